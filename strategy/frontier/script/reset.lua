-- ARGV: name of the rebuild. Forgets everything but what politeness needs: the
-- times at which hosts may be asked, and their failures. All at once: a queue
-- that went after an admission, or a counter before one, would leave a URL that
-- nobody leases or counts. A host with a queue is in FILLED; of another layout,
-- in HOSTS or ACTIVE.
local function forget(host)
  for number = 1, #QUEUES do redis.call('UNLINK', queue(host, number)) end
end
for _, host in ipairs(redis.call('HKEYS', FILLED)) do forget(host) end
for _, host in ipairs(redis.call('ZRANGE', HOSTS, 0, -1)) do forget(host) end
for _, set in ipairs(WEIGHED) do
  for _, host in ipairs(redis.call('ZRANGE', set, 0, -1)) do forget(host) end
end
for _, host in ipairs(redis.call('HKEYS', ACTIVE)) do forget(host) end
for _, version in ipairs(redis.call('ZRANGE', LEASES, 0, -1)) do
  redis.call('DEL', PREFIX .. 'lease:' .. version)
end
redis.call('UNLINK', EPOCH, SETTINGS, PREFIX .. 'missed', KNOWN, COUNTS, TALLIES, OUT, FILLED, HOSTS, ACTIVE, LEASES, LEARNT, unpack(WEIGHED))
fill(filled_in_all()) -- of what is left
write()
redis.call('SET', REBUILD, ARGV[1])
return 0
