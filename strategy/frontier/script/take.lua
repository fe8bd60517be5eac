-- Makes another process the one that may write for a rebuild. A fence has checked that the rebuild is
-- still the same, and has made no further calls.
-- ARGV: new name of the rebuild.
redis.call('SET', REBUILD, ARGV[1])
return 0
