
create table about (born integer not null) strict;
insert into about (born) values (cast(unixepoch('subsec') * 1000 as integer));
