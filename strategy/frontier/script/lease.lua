-- ARGV: layout and epoch, version, its token, now, latest time to ask, deadline,
-- most URLs, most bytes of them, most leases of one host, most URLs that wait on
-- a host of which a sitemap is leased, the number of collections that have short
-- leases, each of them and the most URLs of a lease with one of it, then each
-- collection of which only so many more URLs may be leased for the first time,
-- and how many: 0 none now, below 0 none any more.
-- Returns {time to ask, failures, host, elements...}, 'none', 'again' when it
-- had too much to clear away for one call, or 'closed' when the epoch is another.
local version = ARGV[2]
local token, now, latest, deadline = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local most, most_bytes, connections = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local most_waiting = tonumber(ARGV[10])
local WAITING_FACTOR = 100 -- that many times most_waiting may wait in all hosts together (WaitingFactor of Go)
local short, rooms = {}, {}
for i = 12, #ARGV, 2 do
  local numbers = i < 12 + 2 * tonumber(ARGV[11]) and short or rooms
  numbers[ARGV[i]] = tonumber(ARGV[i + 1])
end
local lease = PREFIX .. 'lease:' .. version
local budget = 500 -- hosts and elements that may be cleared away
local closed = {} -- hosts with a batch out from before a rebuild
for _, host in ipairs(redis.call('HVALS', CLOSED)) do closed[host] = true end

if redis.call('GET', EPOCH) ~= ARGV[1] then return 'closed' end

local function time_of(host)
  return math.max(now, next_of(host))
end

local function failures_of(host)
  return tonumber(redis.call('HGET', FAILURES, host) or 0)
end

-- together is the most URLs of a lease with this one: a URL whose lease has expired
-- may be the cause of its fetch's death. A URL with an outcome is not: its fetch
-- lived.
local function together(value, owner)
  local times, fit = value:byte(6), owner and short[owner] or most
  return times == 0 and fit or math.min(fit, math.max(1, math.floor(100 / 8 ^ times)))
end

-- counts reports whether an element is the one that counts for a URL of this
-- state.
local function counts(element, value)
  if not value or value:sub(1, 4) ~= element:sub(17, 20) then return false end
  local letter = value:sub(1, 1)
  return letter == 'w' or letter == 'W' and value:sub(11, 31) == element:sub(27, 47)
end

-- crowded reports whether so many URLs wait on a host that none of its sitemaps
-- is to bring more.
local function crowded(host)
  local waiting = 0
  for letter in filled_of(host):lower():gmatch('.') do waiting = waiting + redis.call('LLEN', queue(host, letter:byte() - 96)) end
  return waiting > most_waiting
end

-- overcrowded reports whether so many URLs wait in all that no sitemap of any
-- host is read: one site may have hosts without end.
local function overcrowded()
  local waiting = redis.call('HMGET', COUNTS, 'w', 'W')
  return tonumber(waiting[1] or 0) + tonumber(waiting[2] or 0) > WAITING_FACTOR * most_waiting
end

local function is_sitemap(element) return element:byte(25) % 2 == 1 end

-- leased is the state of a URL that waited.
local function leased(value)
  if #value == 7 then return 'l' .. value:sub(2) .. version end
  return 'L' .. value:sub(2, 7) .. version .. value:sub(8)
end

-- take leases what waits on a host, in the order of the queues, up to the first
-- that does not fit. What there is no room for is held, it stays in front: of
-- its queue nothing is taken that comes far behind it. What there never will be
-- room for is parked. Where the host is full, sitemaps go to the back of their
-- queue. It returns also how many it found held, whether it looked through all,
-- and whether sitemaps went there: it stops when what is left belongs behind
-- other hosts.
local function take(host, full_host)
  local sitemaps = false
  local taken, bytes, fit, held = {}, 0, most, 0
  local letters = filled_of(host)
  for letter in letters:lower():gmatch('.') do
    local number = letter:byte() - 96
    local key, back, found, asked, behind = queue(host, number), {}, nil, 0, false
    local unseen = full_host and math.max(1, redis.call('LLEN', key)) or math.huge
    while #back == 0 and unseen > 0 and #taken < fit and budget > 0 do
      asked = math.min(fit - #taken, unseen)
      local elements, later = redis.call('LRANGE', key, 0, asked - 1), {}
      if #elements == 0 and not found then lose() end
      found = #elements
      if found == 0 then break end
      local ids, seen, full = {}, 0, false
      for i, element in ipairs(elements) do ids[i] = identity(element) end
      read(ids)
      for i, element in ipairs(elements) do
        local value, owner = state[ids[i]], collection(element)
        local room = owner and rooms[owner]
        if not counts(element, value) then
          if value then become(ids[i], with_left(value, math.max(0, left(value) - 1))) else lose() end
          budget = budget - 1
        elseif room and room < 0 then
          become(ids[i], 'p' .. value:sub(2))
          budget = budget - 1
        elseif full_host and is_sitemap(element) then
          later[#later + 1] = element
        elseif room == 0 then
          table.insert(back, 1, element)
        else
          local size = #element - 26
          fit = math.min(fit, together(value, owner))
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
      held, unseen, behind = held + #back, unseen - seen, behind or #later > 0
      if #back < seen then
        redis.call('LTRIM', key, seen, -1)
        if #back > 0 then redis.call('LPUSH', key, unpack(back)) end
        if #later > 0 then redis.call('RPUSH', key, unpack(later)) end
      end
      if full then return taken, held, false, sitemaps or behind end
    end
    sitemaps = sitemaps or behind
    if found and #back == 0 and not behind and (found < asked or redis.call('EXISTS', key) == 0) then
      refill(host, number, nil)
      if #taken == 0 and hosts_of(filled[host]) ~= hosts_of(letters) then return taken, held, false, sitemaps end
    end
  end
  return taken, held, budget > 0, sitemaps
end

-- choose is the host that is leased: of those with weights the one whose first
-- queue is that of the earliest band, of the others that which may be asked since
-- the longest time. The two kinds take turns.
local memory = redis.call('HMGET', COUNTS, 'token', 'turn')
local function choose()
  local function first(set) return redis.call('ZRANGEBYSCORE', set, '-inf', latest, 'LIMIT', 0, 1)[1] end
  local plain, weighed = first(HOSTS), nil
  if redis.call('EXISTS', unpack(WEIGHED)) > 0 then
    for _, set in ipairs(WEIGHED) do
      weighed = first(set)
      if weighed then break end
    end
  end
  if not plain or not weighed then return plain or weighed, nil end
  if memory[2] == 'plain' then return plain, 'weighed' end
  return weighed, 'plain'
end

-- A repeated call, after a reply that was lost, gets the lease it has.
if redis.call('ZSCORE', LEASES, version) then
  local items = redis.call('LRANGE', lease, 0, -1)
  return {time_of(items[1]), failures_of(items[1]), unpack(items)}
end

while budget > 0 do
  local host, turn = choose()
  if not host then
    write()
    return 'none'
  end
  local active = tonumber(redis.call('HGET', ACTIVE, host) or 0)
  if active >= connections or closed[host] then
    unlist(host) -- until finish lists it
  else
    local over = overcrowded()
    local taken, held, all, waits = take(host, over or crowded(host))
    if #taken == 0 and waits and all and not over then taken, held, all = take(host, false) end -- there is nothing else
    if waits and filled[host] ~= '' then fill(redis.call('SADD', CROWDED, host)) else fill(-redis.call('SREM', CROWDED, host)) end
    if #taken > 0 then
      redis.call('RPUSH', lease, host, unpack(taken))
      fill(redis.call('ZADD', LEASES, deadline, version))
      add(ACTIVE, host, 1)
      hand_out(taken, 1)
      local at = time_of(host)
      if active + 1 >= connections then unlist(host) else list(host, at) end
      if token > tonumber(memory[1] or 0) then redis.call('HSET', COUNTS, 'token', ARGV[3]) end
      if turn then redis.call('HSET', COUNTS, 'turn', turn) end
      write()
      return {at, failures_of(host), host, unpack(taken)}
    end
    -- All that is left, if it was looked through, is held.
    list(host, all and latest + (over and waits and 60000 or 1) or time_of(host))
    budget = budget - held
  end
  budget = budget - 1
end
write()
return 'again'
