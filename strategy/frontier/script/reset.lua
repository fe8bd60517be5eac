-- Empties the frontier before a rebuild. It keeps only what politeness to hosts needs: the times
-- of next requests, the failures, and the leases, each of which closes its host until it ends.
-- All is done by one call, because URLs are admitted at the same time: if queues and counters
-- were deleted one after another, a URL admitted in between could lose its element or its count.
-- The call is short, however large the frontier is. It does not delete the queues: it changes the
-- generation in their names, and keeps the list of their hosts under another name (see clear.go).
-- ARGV: name of the rebuild, and generation of the queues that follow.
local function discard(key)
  if redis.call('EXISTS', key) == 0 then return end
  local name = key:sub(#PREFIX + 1)
  redis.call('RENAME', key, PREFIX .. 'old:' .. GENERATION .. ':' .. name)
  redis.call('RPUSH', OLD, GENERATION .. ':' .. name)
end
local complete = filled_in_all() == tonumber(redis.call('HGET', COUNTS, 'fill') or 0)
discard(FILLED)
if not complete then -- FILLED may have lost hosts; those with a queue are in one of these, too
  for _, key in ipairs({ ACTIVE, HOSTS, unpack(WEIGHED) }) do discard(key) end
end
redis.call('SET', PREFIX .. 'generation', ARGV[2])
redis.call('UNLINK', EPOCH, SETTINGS, PREFIX .. 'missed', KNOWN, COUNTS, TALLIES, OUT, HOSTS, CROWDED, ACTIVE, CLOSED, LEARNT, DROPPED, RUNS, unpack(WEIGHED))
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
