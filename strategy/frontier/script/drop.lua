-- Deletes elements of one queue that are outdated since forget has removed or changed their URLs.
-- ARGV: host, number of the queue among QUEUES, then the elements.
local host, number = ARGV[1], tonumber(ARGV[2])
local key, ids = queue(host, number), {}
for i = 3, #ARGV do ids[#ids + 1] = identity(ARGV[i]) end
if #ids > 0 then read(ids) end
for i, id in ipairs(ids) do
  local value = state[id]
  if not value or not waits(value) then
    local deleted = redis.call('LREM', key, 1, ARGV[i + 2])
    if value then
      become(id, with_left(value, math.max(0, left(value) - deleted)))
    else
      add(DROPPED, id, -math.min(deleted, tonumber(redis.call('HGET', DROPPED, id) or 0)))
    end
  end
end
if redis.call('EXISTS', key) == 0 then
  refill(host, number, nil)
  keep(host)
  if filled[host] == '' then
    unlist(host)
    fill(-redis.call('SREM', CROWDED, host))
  end
end
write()
return 0
