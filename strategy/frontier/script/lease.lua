-- ARGV: epoch, version, now, latest time to ask, deadline, most URLs, most
-- bytes of them, most leases of one host, '1' to lease only pages that are asked
-- again.
-- Returns {time to ask, failures, host, elements...}, 'none', 'again' when it
-- had too much to clear away for one call, or 'closed' when the epoch is another.
local version = ARGV[2]
local now, latest, deadline = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local most, most_bytes, connections = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local hosts, queues = HOSTS, QUEUES
if ARGV[9] == '1' then hosts, queues = HOSTS_AGAIN, { AGAIN } end
local lease = PREFIX .. 'lease:' .. version
local budget = 500 -- hosts and elements that may be cleared away

if redis.call('GET', PREFIX .. 'epoch') ~= ARGV[1] then return 'closed' end

local function time_of(host)
  return math.max(now, tonumber(redis.call('HGET', NEXT, host) or 0))
end

local function failures_of(host)
  return tonumber(redis.call('HGET', FAILURES, host) or 0)
end

-- together is how many URLs a lease of one that waits so may have: what was
-- asked for or leased before may be what the fetch of its batch died of.
local function together(value)
  local times = math.max(value:byte(5, 6))
  return times == 0 and most or math.min(most, math.max(1, math.floor(100 / 8 ^ times)))
end

-- counts reports whether an element is the one that counts for a URL of this
-- state.
local function counts(element, value)
  if not value or value:sub(1, 4) ~= element:sub(17, 20) then return false end
  local letter = value:sub(1, 1)
  return letter == 'w' or letter == 'W' and value:sub(10, 30) == element:sub(27, 47)
end

-- leased is the state of a URL that waited.
local function leased(value)
  if #value == 6 then return 'l' .. value:sub(2) .. version end
  return 'L' .. value:sub(2, 6) .. version .. value:sub(7)
end

-- take leases what waits on a host, in the order of the queues, up to the first
-- that does not fit.
local function take(host)
  local taken, bytes, room = {}, 0, most
  for _, name in ipairs(queues) do
    local key = queue(host, name)
    while #taken < room and budget > 0 do
      local elements = redis.call('LPOP', key, room - #taken)
      if not elements or #elements == 0 then break end
      local ids = {}
      for i, element in ipairs(elements) do ids[i] = identity(element) end
      read(ids)
      for i, element in ipairs(elements) do
        local value = state[ids[i]]
        if counts(element, value) then
          local size = #element - 26
          room = math.min(room, together(value))
          if #taken > 0 and (bytes + size > most_bytes or #taken >= room) then
            local rest = {}
            for j = #elements, i, -1 do rest[#rest + 1] = elements[j] end
            redis.call('LPUSH', key, unpack(rest))
            return taken
          end
          bytes = bytes + size
          if element:byte(21) ~= value:byte(5) then
            element = element:sub(1, 20) .. value:sub(5, 5) .. element:sub(22)
          end
          taken[#taken + 1] = element
          become(ids[i], leased(value))
        else
          budget = budget - 1
        end
      end
    end
  end
  return taken
end

-- unlist leaves out a host until finish lists it.
local function unlist(host)
  redis.call('ZREM', HOSTS, host)
  redis.call('ZREM', HOSTS_AGAIN, host)
end

-- A repeated call, after a reply that was lost, gets the lease it has.
if redis.call('ZSCORE', LEASES, version) then
  local items = redis.call('LRANGE', lease, 0, -1)
  return {time_of(items[1]), failures_of(items[1]), unpack(items)}
end

while budget > 0 do
  local host = redis.call('ZRANGEBYSCORE', hosts, '-inf', latest, 'LIMIT', 0, 1)[1]
  if not host then return 'none' end
  local active = tonumber(redis.call('HGET', ACTIVE, host) or 0)
  if active >= connections then
    unlist(host)
    budget = budget - 1
  else
    local taken, at = take(host), time_of(host)
    if #taken > 0 then
      redis.call('RPUSH', lease, host, unpack(taken))
      redis.call('ZADD', LEASES, deadline, version)
      redis.call('HINCRBY', ACTIVE, host, 1)
    end
    if #taken > 0 and active + 1 >= connections then unlist(host) else list(host, at) end
    if #taken > 0 then
      write()
      return {at, failures_of(host), host, unpack(taken)}
    end
    budget = budget - 1
  end
end
return 'again'
