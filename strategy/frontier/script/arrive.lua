-- What admit and renew share.

-- Elements that are about to wait, by their queue, and the hosts of those.
local arrived, hosts, seen = {}, {}, {}

local function arrive(host, element)
  local key = queue_of(host, element)
  local elements = arrived[key]
  if not elements then
    elements = {}
    arrived[key] = elements
    if not seen[host] then
      seen[host] = true
      hosts[#hosts + 1] = host
    end
  end
  elements[#elements + 1] = element
end

-- queue_up puts down all that arrived, on hosts that may be asked from now on
-- or from the time that is known.
local function queue_up(now)
  for key, elements in pairs(arrived) do redis.call('RPUSH', key, unpack(elements)) end
  if #hosts == 0 then return end
  local times, scores = redis.call('HMGET', NEXT, unpack(hosts)), {}
  for i, host in ipairs(hosts) do
    scores[#scores + 1] = math.max(now, tonumber(times[i] or 0))
    scores[#scores + 1] = host
  end
  redis.call('ZADD', HOSTS, 'NX', unpack(scores))
end
