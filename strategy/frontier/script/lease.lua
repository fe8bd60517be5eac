-- Leases URLs of one host.
-- ARGV: 1 layout and epoch, 2 version of the lease, 3 its token, 4 now, 5 latest time of the first
-- request, 6 deadline, 7 greatest number of URLs, 8 of their bytes, 9 of leases of one host, 10 of
-- URLs that may wait on a host when one of its sitemaps is leased, 11 the number of collections
-- with short leases; then each of these collections, with the greatest number of URLs of a lease
-- that has one of its URLs; then each collection with a limit, with the number of its URLs,
-- assets apart, that may still be leased for the first time: 0 none for now, below 0 never more.
-- Returns {time of the first request, failures, host, elements...}; 'none' if no host can be
-- leased; 'again' if the call had to stop at its budget; 'closed' if the frontier is open in
-- another epoch.
local version = ARGV[2]
local token, now, latest, deadline = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local most, most_bytes, connections = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local most_waiting = tonumber(ARGV[10])
local WAITING_FACTOR = 100 -- all hosts together may have that many times most_waiting waiting URLs (WaitingFactor in Go)
local short, rooms = {}, {}
for i = 12, #ARGV, 2 do
  local numbers = i < 12 + 2 * tonumber(ARGV[11]) and short or rooms
  numbers[ARGV[i]] = tonumber(ARGV[i + 1])
end
local lease = PREFIX .. 'lease:' .. version
local budget = 500 -- number of hosts and elements that this call may still handle without leasing them
local closed = {} -- hosts with a lease from before a rebuild
for _, host in ipairs(redis.call('HVALS', CLOSED)) do closed[host] = true end

if redis.call('GET', EPOCH) ~= ARGV[1] then return 'closed' end

-- time_of returns the earliest time of a host's next request, not before now.
local function time_of(host)
  return math.max(now, next_of(host))
end

-- failures_of returns the number of failures in a row of a host.
local function failures_of(host)
  return tonumber(redis.call('HGET', FAILURES, host) or 0)
end

-- together returns the greatest number of URLs of a lease that has a URL of this state and
-- collection. It is small if leases of the URL have expired, because the URL may have crashed
-- its fetches: 100, 12, 1 after 0, 1, 2 expiries. An outcome sets the expiries back to 0.
local function together(value, owner)
  local times, fit = value:byte(6), owner and short[owner] or most
  return times == 0 and fit or math.min(fit, math.max(1, math.floor(100 / 8 ^ times)))
end

-- counts reports whether an element is valid, and not outdated, for a URL in this state.
local function counts(element, value)
  if not value or value:sub(1, 4) ~= element:sub(17, 20) then return false end
  local letter = value:sub(1, 1)
  return letter == 'w' or letter == 'W' and version_of(final(value)) == element:sub(27, 35)
end

-- crowded reports whether more than most_waiting URLs wait on a host; then its sitemaps are not
-- leased, because they would bring more.
local function crowded(host)
  local waiting = 0
  for letter in filled_of(host):lower():gmatch('.') do waiting = waiting + redis.call('LLEN', queue(host, letter:byte() - 96)) end
  return waiting > most_waiting
end

-- overcrowded reports whether more than WAITING_FACTOR * most_waiting URLs wait on all hosts
-- together; then no sitemap is leased. This is needed because a site may have any number of hosts.
local function overcrowded()
  local waiting = redis.call('HMGET', COUNTS, 'w', 'W')
  return tonumber(waiting[1] or 0) + tonumber(waiting[2] or 0) > WAITING_FACTOR * most_waiting
end

-- is_sitemap reports whether an element has the flag of a sitemap.
local function is_sitemap(element) return element:byte(25) % 2 == 1 end

-- size_of returns the number of bytes by which an element counts toward most_bytes: those behind its
-- header, with the beginning of the URL that it may lack.
local function size_of(element, host)
  local flags, size = math.floor(element:byte(25) / 16) % 4, #element - 26
  if flags == 1 then return size + #'http://' + #host end
  if flags == 2 then return size + #'https://' + #host end
  return size
end

-- leased returns the state of a waiting URL after it has been leased.
local function leased(value)
  if #value == 7 then return 'l' .. value:sub(2) .. version end
  return 'L' .. value:sub(2, 7) .. version .. value:sub(8)
end

-- take takes URLs from the queues of a host, in the order of the queues, up to the first that
-- does not fit into the lease.
--
--   element                                                        goes
--   outdated                                                       away
--   no asset, and its collection may have no more (room below 0)   away; the URL is parked
--   no asset, and its collection may have none for now (room 0)    back to the front: it is held
--   a sitemap, and full_host is set                                to the back of its queue
--   any other                                                      onto the lease
--
-- After a held element, nothing more is read of its queue. take stops early if the host's first
-- queue becomes empty and the host belongs into another set, behind other hosts. It returns the
-- elements taken, the number of elements held, whether it has looked through all queues, and
-- whether it moved sitemaps to the back.
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
        local room = owner and not is_asset(element) and rooms[owner]
        if not counts(element, value) then
          if value then
            become(ids[i], with_left(value, math.max(0, left(value) - 1)))
          elseif redis.call('HEXISTS', DROPPED, ids[i]) == 1 then
            add(DROPPED, ids[i], -1)
          else
            lose()
          end
          budget = budget - 1
        elseif room and room < 0 then
          become(ids[i], 'p' .. value:sub(2))
          budget = budget - 1
        elseif full_host and is_sitemap(element) then
          later[#later + 1] = element
        elseif room == 0 then
          table.insert(back, 1, element)
        else
          local size = size_of(element, host)
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

-- choose returns the host to lease, and whose turn it is next ('plain' or 'weighed', nil if there
-- is no choice). Hosts whose first URL has a weight and hosts without one take turns. Of the
-- former it is the host with the earliest band, of the latter the one with the earliest time of
-- the next request.
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

-- If the lease exists, the call is a repetition after a lost answer, and gets the same answer.
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
    unlist(host) -- finish lists it again
  else
    local over = overcrowded()
    local taken, held, all, waits = take(host, over or crowded(host))
    if #taken == 0 and waits and all and not over then taken, held, all = take(host, false) end -- only sitemaps are left
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
    -- If take has looked through all queues, only held elements are left: the host is listed
    -- after the other hosts.
    list(host, all and latest + (over and waits and 60000 or 1) or time_of(host))
    budget = budget - held
  end
  budget = budget - 1
end
write()
return 'again'
