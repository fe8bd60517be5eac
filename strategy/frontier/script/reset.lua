-- ARGV: name of the rebuild. Forgets everything but what politeness needs: the
-- times at which hosts may be asked, and their failures. All at once: a queue
-- that went after an admission, or a counter before one, would leave a URL that
-- nobody leases or counts. A host with a queue is in HOSTS or ACTIVE.
local function forget(host)
  for _, name in ipairs(QUEUES) do redis.call('UNLINK', queue(host, name)) end
end
for _, host in ipairs(redis.call('ZRANGE', HOSTS, 0, -1)) do forget(host) end
for _, host in ipairs(redis.call('HKEYS', ACTIVE)) do forget(host) end
for _, version in ipairs(redis.call('ZRANGE', LEASES, 0, -1)) do
  redis.call('DEL', PREFIX .. 'lease:' .. version)
end
redis.call('UNLINK', PREFIX .. 'epoch', PREFIX .. 'settings', MISSED, KNOWN, COUNTS, TALLIES, OUT, HOSTS, ACTIVE, LEASES, LEARNT)
redis.call('SET', REBUILD, ARGV[1])
return 0
