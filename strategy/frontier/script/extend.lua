-- Changes the deadline of a lease.
-- ARGV: version of the lease, new deadline. Returns 1, or 0 if there is no such lease.
if not redis.call('ZSCORE', LEASES, ARGV[1]) then return 0 end
redis.call('ZADD', LEASES, ARGV[2], ARGV[1])
return 1
