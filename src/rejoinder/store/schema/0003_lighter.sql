-- What each message had to keep in order, and nobody reads by: claims are few, and traces are as old as their numbers.
DROP INDEX part_leased;
DROP INDEX trace_at;
