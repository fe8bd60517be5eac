-- ARGV: name of the rebuild. Forgets everything but what politeness needs: the
-- times at which hosts may be asked, their failures, and the batches that are
-- out, each of which keeps its host closed. All at once: a queue that went after
-- an admission, or a counter before one, would leave a URL that nobody leases or
-- counts. A host with a queue is in FILLED; of another layout, in HOSTS or ACTIVE.
local function forget(host)
  for number = 1, #QUEUES do redis.call('UNLINK', queue(host, number)) end
end
for _, host in ipairs(redis.call('HKEYS', FILLED)) do forget(host) end
for _, host in ipairs(redis.call('ZRANGE', HOSTS, 0, -1)) do forget(host) end
for _, set in ipairs(WEIGHED) do
  for _, host in ipairs(redis.call('ZRANGE', set, 0, -1)) do forget(host) end
end
for _, host in ipairs(redis.call('HKEYS', ACTIVE)) do forget(host) end
redis.call('UNLINK', EPOCH, SETTINGS, PREFIX .. 'missed', KNOWN, COUNTS, TALLIES, OUT, FILLED, HOSTS, CROWDED, ACTIVE, CLOSED, LEARNT, unpack(WEIGHED))
for _, version in ipairs(redis.call('ZRANGE', LEASES, 0, -1)) do
  local elements = redis.call('LRANGE', PREFIX .. 'lease:' .. version, 0, -1)
  local host = table.remove(elements, 1)
  if host then
    redis.call('HSET', CLOSED, version, host)
    add(ACTIVE, host, 1)
    hand_out(elements, 1)
  else
    redis.call('ZREM', LEASES, version)
  end
end
filled_by = filled_in_all() -- whatever it was
write()
redis.call('SET', REBUILD, ARGV[1])
return 0
