-- Definitions for admit and renew.

-- arrived: host → number of a queue → elements to be put into it. hosts: these hosts, in order.
local arrived, hosts = {}, {}

-- arrive remembers an element, which queue_up will put into its queue.
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

-- queue_up puts all elements that have arrived into their queues, and lists their hosts: with
-- the earliest time of the next request if that is known and later than now, else with now.
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
