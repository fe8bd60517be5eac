-- ARGV: epoch, version, now, latest time to ask, deadline, most URLs, most
-- bytes of them, most leases of one host, then each collection of which only so
-- many more URLs may be leased for the first time, and how many: 0 none now,
-- below 0 none any more.
-- Returns {time to ask, failures, host, elements...}, 'none', 'again' when it
-- had too much to clear away for one call, or 'closed' when the epoch is another.
local version = ARGV[2]
local now, latest, deadline = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local most, most_bytes, connections = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local rooms = {}
for i = 9, #ARGV, 2 do rooms[ARGV[i]] = tonumber(ARGV[i + 1]) end
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
-- that does not fit. What there is no room for is held, it stays in front: of
-- its queue nothing is taken that comes far behind it. What there never will be
-- room for is parked. It returns also how many it found held.
local function take(host)
  local taken, bytes, fit, held = {}, 0, most, 0
  for _, name in ipairs(QUEUES) do
    local key, back = queue(host, name), {}
    while #back == 0 and #taken < fit and budget > 0 do
      local elements = redis.call('LRANGE', key, 0, fit - #taken - 1)
      if #elements == 0 then break end
      local ids, seen, full = {}, 0, false
      for i, element in ipairs(elements) do ids[i] = identity(element) end
      read(ids)
      for i, element in ipairs(elements) do
        local value, owner = state[ids[i]], collection(element)
        local room = owner and rooms[owner]
        if not counts(element, value) then
          budget = budget - 1
        elseif room and room < 0 then
          become(ids[i], 'p' .. value:sub(2))
          budget = budget - 1
        elseif room == 0 then
          table.insert(back, 1, element)
        else
          local size = #element - 26
          fit = math.min(fit, together(value))
          full = #taken > 0 and (bytes + size > most_bytes or #taken >= fit)
          if full then break end
          bytes = bytes + size
          if element:byte(21) ~= value:byte(5) then
            element = element:sub(1, 20) .. value:sub(5, 5) .. element:sub(22)
          end
          taken[#taken + 1] = element
          become(ids[i], leased(value))
          if room then rooms[owner] = room - 1 end
        end
        seen = i
      end
      held = held + #back
      if #back < seen then
        redis.call('LTRIM', key, seen, -1)
        if #back > 0 then redis.call('LPUSH', key, unpack(back)) end
      end
      if full then return taken, held end
    end
  end
  return taken, held
end

-- A repeated call, after a reply that was lost, gets the lease it has.
if redis.call('ZSCORE', LEASES, version) then
  local items = redis.call('LRANGE', lease, 0, -1)
  return {time_of(items[1]), failures_of(items[1]), unpack(items)}
end

while budget > 0 do
  local host = redis.call('ZRANGEBYSCORE', HOSTS, '-inf', latest, 'LIMIT', 0, 1)[1]
  if not host then
    write()
    return 'none'
  end
  local active = tonumber(redis.call('HGET', ACTIVE, host) or 0)
  if active >= connections then
    redis.call('ZREM', HOSTS, host) -- until finish lists it
  else
    local taken, held = take(host)
    if #taken > 0 then
      redis.call('RPUSH', lease, host, unpack(taken))
      redis.call('ZADD', LEASES, deadline, version)
      redis.call('HINCRBY', ACTIVE, host, 1)
      hand_out(taken, 1)
      local at = time_of(host)
      if active + 1 >= connections then redis.call('ZREM', HOSTS, host) else list(host, at) end
      write()
      return {at, failures_of(host), host, unpack(taken)}
    end
    -- All that is left, if it was looked through, is held.
    list(host, budget > 0 and latest + 1 or time_of(host))
    budget = budget - held
  end
  budget = budget - 1
end
write()
return 'again'
