-- ARGV: now, the most expiries that are counted of a URL. Ends a few of the
-- leases whose deadline has passed.
-- Returns {leases ended, URLs that wait again}.
local versions = redis.call('ZRANGEBYSCORE', LEASES, '-inf', '(' .. ARGV[1], 'LIMIT', 0, 4)
local requeued = 0
for _, version in ipairs(versions) do
  fill(-redis.call('ZREM', LEASES, version))
  requeued = requeued + finish(out(version), 0, tonumber(ARGV[2]))
end
write()
return {#versions, requeued}
