-- Empties the frontier before a rebuild. It keeps only what politeness to hosts needs: the times
-- of next requests, the failures, and the leases, each of which closes its host until it ends.
-- All is deleted by one call, because URLs are admitted at the same time: if queues and counters
-- were deleted one after another, a URL admitted in between could lose its element or its count.
-- A host with a queue is in FILLED, or, if an older layout is deleted, in HOSTS or ACTIVE.
-- ARGV: name of the rebuild.
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
filled_by = filled_in_all() -- COUNTS was deleted, so this becomes its field fill
write()
redis.call('SET', REBUILD, ARGV[1])
return 0
