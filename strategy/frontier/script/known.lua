-- Definitions for all scripts of the frontier, after keys.lua: the hash known. Its buckets hold a record
-- of each known URL: the identity and the state. Records of the same length form a section of their
-- bucket. doc.go draws them.

local ID, HEADER = 16, 4 -- length of an identity, and of the header of a section
local byte, find, sub = string.byte, string.find, string.sub

-- section returns, for the section that begins at a position of a bucket: the length of its
-- records, the position of the first record, and the position after the last one.
local function section(bucket, at)
  local a, b, c, d = byte(bucket, at, at + HEADER - 1)
  local size, first = ID + a * 256 + b, at + HEADER
  return size, first, first + size * (c * 256 + d)
end

-- header returns the header of a section by the length of its records and their number.
local function header(size, number)
  local length = size - ID
  return string.char(math.floor(length / 256), length % 256, math.floor(number / 256), number % 256)
end

-- section_of returns a section by the length of its records and the list of them; '' if it is empty.
local function section_of(size, records)
  return #records == 0 and '' or header(size, #records) .. table.concat(records)
end

-- record returns the position of a URL's record in a bucket, and the length of the record. Then
-- come the position of its section, and the position after the section. It returns nil if the
-- bucket has no such record. The bytes of an identity may also occur elsewhere in the bucket: a
-- record begins only at a multiple of the length of the records.
local function record(bucket, id)
  local head = 1
  while head <= #bucket do
    local size, first, last = section(bucket, head)
    local at = find(bucket, id, first, true)
    while at and at < last do
      if (at - first) % size == 0 then return at, size, head, last end
      at = find(bucket, id, at + 1, true)
    end
    if not at then return nil end
    head = last
  end
end

-- without returns a bucket without the record of a URL, and the number of records removed: 0 or 1.
local function without(bucket, id)
  local at, size, head, last = record(bucket, id)
  if not at then return bucket, 0 end
  local number = (last - head - HEADER) / size
  if number == 1 then return sub(bucket, 1, head - 1) .. sub(bucket, last), 1 end
  return sub(bucket, 1, head - 1) .. header(size, number - 1) .. sub(bucket, head + HEADER, at - 1) .. sub(bucket, at + size), 1
end

-- with returns a bucket with one more record, of a URL that has none in it.
local function with(bucket, id, value)
  local size, head = ID + #value, 1
  while head <= #bucket do
    local other, first, last = section(bucket, head)
    if other == size then
      return sub(bucket, 1, head - 1) .. header(size, (last - first) / size + 1) .. id .. value .. sub(bucket, first)
    end
    head = last
  end
  return bucket .. header(size, 1) .. id .. value
end

-- divide returns two buckets with the records of one. The first has those for which the function stays
-- returns true.
local function divide(bucket, stays)
  local here, there, head = '', '', 1
  while head <= #bucket do
    local size, first, last = section(bucket, head)
    local staying, going = {}, {}
    for at = first, last - 1, size do
      local one = sub(bucket, at, at + size - 1)
      local side = stays(one) and staying or going
      side[#side + 1] = one
    end
    here, there = here .. section_of(size, staying), there .. section_of(size, going)
    head = last
  end
  return here, there
end

-- Known URLs are divided among buckets, numbered from 0, by a hash of their identities. The number
-- of buckets grows with that of the URLs: one bucket at a time is divided into two, in the order of
-- their numbers (linear hashing: W. Litwin, VLDB 1980). Example: of 6 buckets, the buckets 0, 1, 4
-- and 5 come from a division of 0 and 1, and are those of the hash modulo 8. The buckets 2 and 3 are
-- not divided yet, and are those of the hash modulo 4.
local LOAD = 16 -- average number of URLs in a bucket above which the next bucket is divided

-- buckets: number of buckets; nil before open_known.
-- level: the greatest power of two that is not greater.
-- seeded: the seed of the hash as Redis has it; false if the hash known is empty.
-- bucket: name → records, of each bucket that this script has read. The name is the number as text:
-- with numbers, a table of the embedded Redis would take room for all lower numbers, too.
-- rewritten: names of the buckets that this script has changed.
local buckets, level, seeded, seed1, seed2
local bucket, rewritten = {}, {}

-- open_known reads how many buckets there are, and the seed of their hash. The seed is a secret, so
-- that no site can choose URLs that all belong into one bucket.
local function open_known()
  seeded = redis.call('HGET', KNOWN, 'seed')
  buckets, level = math.max(1, redis.call('HLEN', KNOWN) - 1), 1
  while 2 * level <= buckets do level = 2 * level end
  local digest = redis.sha1hex(seeded or GENERATION)
  seed1, seed2 = tonumber(digest:sub(1, 6), 16), tonumber(digest:sub(7, 12), 16)
end

-- bucket_of returns the name of a URL's bucket, by the identity or a text that begins with it. The hash
-- is a sum of products of the identity's first bytes with the seed, modulo a prime number below 2^24
-- (universal hashing: Carter and Wegman, JCSS 1979).
local function bucket_of(id)
  local a, b, c, d, e, f = byte(id, 1, 6)
  local hash = ((a * 65536 + b * 256 + c) * seed1 + (d * 65536 + e * 256 + f) * seed2) % 16777213
  local number = hash % (2 * level)
  return (number < buckets and number or number - level) .. ''
end

-- read_buckets reads the buckets with these names.
local function read_buckets(names)
  if #names == 0 then return end
  for i, records in ipairs(redis.call('HMGET', KNOWN, unpack(names))) do
    if not records and seeded then lose() end
    bucket[names[i]] = records or ''
  end
end

-- REMOVED stands in a bucket for the state of a URL that was removed, but that may have a state in a run.
local REMOVED = 'x'

-- look_up enters the states of URLs in a table, by their identities: false for an unknown URL. The state
-- in the hash known counts; without one, the state in the runs, which is written into the hash, too: it is
-- likely to be needed again. look_up appends to unsure the identities of those unknown URLs that the caller
-- has not looked up in runs.
local unsure = {}
local function look_up(ids, states, changed)
  if #ids == 0 then return end
  if not buckets then open_known() end
  local names, homes = {}, {}
  for i = 1, #ids do
    local name = bucket_of(ids[i])
    homes[i] = name
    if bucket[name] == nil then
      bucket[name] = false
      names[#names + 1] = name
    end
  end
  read_buckets(names)
  for i = 1, #ids do
    local id, records = ids[i], bucket[homes[i]]
    local at, size = record(records, id)
    local value = at and sub(records, at + ID, at + size - 1) or recalled[id]
    if not value then unsure[#unsure + 1] = id end
    states[id] = value ~= REMOVED and value ~= '' and value or false
    if not at and states[id] then changed[id] = value end
  end
end

-- grow divides the next bucket.
local function grow()
  local from, to = tostring(buckets - level), tostring(buckets)
  if not bucket[from] then read_buckets({ from }) end
  buckets = buckets + 1
  bucket[from], bucket[to] = divide(bucket[from], function(one) return bucket_of(one) == from end)
  rewritten[from], rewritten[to] = true, true
  if buckets == 2 * level then level = buckets end
end

-- write_known writes changed states to Redis. The table changed has the states by identity: false for a
-- URL that was removed. If retires is true, such a URL was not removed, but its state is in a run now. For
-- each added record at most one bucket is divided. look_up must have read all the URLs. A script calls
-- write_known once.
local function write_known(changed, retires)
  local added = 0
  for id, value in pairs(changed) do
    local name = bucket_of(id)
    local records, number = without(bucket[name], id)
    if not value and not retires and redis.call('EXISTS', RUNS) == 1 then value = REMOVED end
    if value then records = with(records, id, value) end
    added = added + (value and 1 or 0) - number
    bucket[name], rewritten[name] = records, true
  end
  if added ~= 0 then
    local urls = redis.call('HINCRBY', COUNTS, 'here', added)
    for _ = 1, added do
      if urls > LOAD * buckets then grow() end
    end
  end
  if not next(rewritten) then return end
  local pairs_of = seeded and {} or { 'seed', GENERATION }
  for name in pairs(rewritten) do
    pairs_of[#pairs_of + 1] = name
    pairs_of[#pairs_of + 1] = bucket[name]
  end
  fill(redis.call('HSET', KNOWN, unpack(pairs_of)))
end
