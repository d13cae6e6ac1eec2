package api

var taskRoutes = []Route{}
