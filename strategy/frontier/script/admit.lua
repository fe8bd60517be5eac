-- ARGV: now, then host and element of each URL.
-- Returns how many of the URLs were unknown.
local now = tonumber(ARGV[1])
local ids = {}
for i = 3, #ARGV, 2 do ids[#ids + 1] = identity(ARGV[i]) end
read(ids)

local added, queues, hosts, seen = 0, {}, {}, {}
for i = 2, #ARGV, 2 do
  local host, element = ARGV[i], ARGV[i + 1]
  local id = identity(element)
  local before = state[id]
  local value
  if not before then
    added, value = added + 1, waiting(element)
  elseif before:sub(1, 1) == 'w' and depth(element, 17) < depth(before, 2) then
    value = 'w' .. element:sub(17, 18) .. before:sub(4) -- moves up, keeps what was counted
  end
  if value then
    become(id, value)
    local key = queue_of(host, element)
    queues[key] = queues[key] or {}
    table.insert(queues[key], element)
    if not seen[host] then
      seen[host] = true
      hosts[#hosts + 1] = host
    end
  end
end

for key, elements in pairs(queues) do redis.call('RPUSH', key, unpack(elements)) end
if #hosts > 0 then
  local times, scores = redis.call('HMGET', NEXT, unpack(hosts)), {}
  for i, host in ipairs(hosts) do
    scores[#scores + 1] = math.max(now, tonumber(times[i] or 0))
    scores[#scores + 1] = host
  end
  redis.call('ZADD', HOSTS, 'NX', unpack(scores))
end
write()
return added
