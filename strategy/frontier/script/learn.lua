-- ARGV: storage partition, what it learnt before, what it learns next, how many
-- names are kept. A frontier that is open and does not know what came before
-- stays behind.
local told = redis.call('HGET', LEARNT, ARGV[1]) or ''
local function knows(name) return (' ' .. told .. ' '):find(' ' .. name .. ' ', 1, true) end

local open = redis.call('EXISTS', PREFIX .. 'epoch') == 1
if (knows(ARGV[2]) or not open) and not knows(ARGV[3]) then
  told = told .. ' ' .. ARGV[3]
  local _, spaces = told:gsub(' ', ' ')
  if spaces >= tonumber(ARGV[4]) then told = told:sub(told:find(' ', 1, true) + 1) end
  redis.call('HSET', LEARNT, ARGV[1], told)
end
return 0
