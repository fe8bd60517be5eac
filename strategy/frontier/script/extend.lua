-- ARGV: version, deadline. Returns whether the lease is out.
if not redis.call('ZSCORE', LEASES, ARGV[1]) then return 0 end
redis.call('ZADD', LEASES, ARGV[2], ARGV[1])
return 1
