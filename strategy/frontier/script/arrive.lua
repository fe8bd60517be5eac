-- What admit and renew share.

-- Elements that are about to wait, by host and number of the queue, and the hosts.
local arrived, hosts = {}, {}

local function arrive(host, element)
  local queues = arrived[host]
  if not queues then
    queues = {}
    arrived[host] = queues
    hosts[#hosts + 1] = host
  end
  local number = queue_of(element)
  local elements = queues[number]
  if not elements then
    elements = {}
    queues[number] = elements
  end
  elements[#elements + 1] = element
end

-- queue_up puts down all that arrived, on hosts that may be asked from now on
-- or from the time that is known.
local function queue_up(now)
  if #hosts == 0 then return end
  local times, letters = redis.call('HMGET', NEXT, unpack(hosts)), redis.call('HMGET', FILLED, unpack(hosts))
  local shut, scores = redis.call('GET', SHUT) or 0, {}
  for i, host in ipairs(hosts) do
    filled[host] = letters[i] or ''
    kept[host] = filled[host]
    for number, elements in pairs(arrived[host]) do push('RPUSH', host, number, elements) end
    keep(host)
    local set = hosts_of(filled[host])
    local listed = scores[set] or {}
    scores[set] = listed
    listed[#listed + 1] = math.max(now, tonumber(times[i] or shut))
    listed[#listed + 1] = host
  end
  for set, listed in pairs(scores) do fill(redis.call('ZADD', set, 'NX', unpack(listed))) end
end
