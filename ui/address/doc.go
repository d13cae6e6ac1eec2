// Package address makes and parses the URIs of layouts, chats and new channels.
package address
