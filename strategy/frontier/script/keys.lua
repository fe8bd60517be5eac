-- Definitions for all scripts of the frontier: the keys, the fences, and what a script notes about its
-- changes. doc.go describes the keys.
local PREFIX = KEYS[1]
local KNOWN, COUNTS, HOSTS = PREFIX .. 'known', PREFIX .. 'counts', PREFIX .. 'hosts'
local NEXT, FAILURES = PREFIX .. 'next', PREFIX .. 'failures'
local ACTIVE, LEASES = PREFIX .. 'active', PREFIX .. 'leases'
local CLOSED, SHUT, CROWDED = PREFIX .. 'closed', PREFIX .. 'shut', PREFIX .. 'crowded'
local LEARNT, REBUILD = PREFIX .. 'learnt', PREFIX .. 'rebuild'
local TALLIES, OUT, FILLED = PREFIX .. 'tallies', PREFIX .. 'out', PREFIX .. 'filled'
local DROPPED, RUNS = PREFIX .. 'dropped', PREFIX .. 'runs'
local EPOCH, SETTINGS = PREFIX .. 'epoch', PREFIX .. 'settings'
local OLD, GENERATION = PREFIX .. 'old', redis.call('GET', PREFIX .. 'generation') or ''

-- The names of a host's queues, in the order in which a lease takes URLs from them: the
-- bands 0 to 15, and the queue of stored pages that are requested again.
local BANDS, AGAIN = 16, 'again'
local QUEUES = {}
for band = 0, BANDS - 1 do QUEUES[#QUEUES + 1] = band end
QUEUES[#QUEUES + 1] = AGAIN

-- The keys of the sets of hosts whose first queue is that of a band and has a URL with a
-- weight, one for each band.
local WEIGHED = {}
for band = 0, BANDS - 1 do WEIGHED[#WEIGHED + 1] = HOSTS .. ':' .. band end

-- The greatest number of outdated elements that a URL may have in queues when it gets a
-- valid one.
local LEFT_BEHIND = 16

-- Each key after the first is a fence: the script runs only if the key has a certain value.
-- Three arguments at the end of ARGV belong to each fence:
--   1. the value that the key must have;
--   2. the value that the key gets, '' to keep it. If the key has this one already, the call
--      is a repetition after a lost answer, and is accepted, too;
--   3. the number of seconds for which the key is kept then, 0 for ever.
local fences = {}
for i = #KEYS, 2, -1 do
  local age, next, value = table.remove(ARGV), table.remove(ARGV), table.remove(ARGV)
  local held = redis.call('GET', KEYS[i]) or ''
  if held ~= value and (next == '' or held ~= next) then return redis.error_reply('FENCED ' .. (i - 1)) end
  if next ~= '' then fences[KEYS[i]] = { next, age } end
end
for key, fence in pairs(fences) do
  redis.call('SET', key, fence[1])
  if fence[2] ~= '0' then redis.call('EXPIRE', key, fence[2]) end
end

-- The last argument that is left has the states that the caller has looked up in runs: of each URL the
-- identity, the length of the state (2 bytes), and the state; a URL that no run has has none.
-- recalled: identity → state of these URLs, '' if there is none.
local recalled = {}
local function remember(records)
  local at = 1
  while at <= #records do
    local high, low = records:byte(at + 16, at + 17)
    local last = at + 17 + high * 256 + low
    recalled[records:sub(at, at + 15)] = records:sub(at + 18, last)
    at = last + 1
  end
end
remember(table.remove(ARGV))

-- fill records that the number of entries in the partition's hashes and sets, without counts, has
-- changed by so many. The field fill of counts holds their total, which the script check compares
-- with filled_in_all.
local filled_by = 0
local function fill(by) filled_by = filled_by + by end

-- filled_in_all returns the number of entries in these hashes and sets.
local function filled_in_all()
  local entries = redis.call('ZCARD', HOSTS) + redis.call('ZCARD', LEASES) + redis.call('SCARD', CROWDED)
  for _, hash in ipairs({ KNOWN, NEXT, FAILURES, ACTIVE, CLOSED, LEARNT, TALLIES, OUT, FILLED, DROPPED }) do entries = entries + redis.call('HLEN', hash) end
  if redis.call('EXISTS', unpack(WEIGHED)) > 0 then
    for _, set in ipairs(WEIGHED) do entries = entries + redis.call('ZCARD', set) end
  end
  return entries
end

-- miss records that a collection may lack pages until the next rebuild.
local missed = false
local function miss() missed = true end

-- lose records that Redis has lost a key that must exist.
local lost = false
local function lose() lost = true end
