-- Records pauses of hosts that the books hold. A later time or a greater number of failures that
-- is known already stays.
-- ARGV: name, earliest time of the next request, and failures of each host.
for i = 1, #ARGV, 3 do
  local host, earliest, failures = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local at, sooner = rest(host, earliest)
  if sooner then redis.call('ZADD', hosts_of(filled_of(host)), 'XX', at, host) end
  if failures > tonumber(redis.call('HGET', FAILURES, host) or 0) then fill(redis.call('HSET', FAILURES, host, failures)) end
end
write()
return 0
