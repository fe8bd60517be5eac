-- Ends up to four leases whose deadline has passed.
-- ARGV: now, greatest number of expiries that is counted for a URL.
-- Returns {number of leases ended, number of URLs put back into queues}.
local versions = redis.call('ZRANGEBYSCORE', LEASES, '-inf', '(' .. ARGV[1], 'LIMIT', 0, 4)
local requeued = 0
for _, version in ipairs(versions) do
  fill(-redis.call('ZREM', LEASES, version))
  requeued = requeued + finish(out(version), 0, tonumber(ARGV[2]))
end
write()
return {#versions, requeued}
