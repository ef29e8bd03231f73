-- Random numbers: one generator per thread, which has a seed for each event, so that an event that is retried or replayed
-- draws the same numbers. Bounds are whole numbers, and included.
local host = ...
local ffi = require "ffi"
local random, floor, log, exp, min, max = math.random, math.floor, math.log, math.exp, math.min, math.max
local ipairs = ipairs
local opt = host.options
local rand = {}

-- Largest value of a bound that is not given.
local HIGHEST = 4294967295

local function uniform(a, b)
   a = floor(a)
   return a + floor(random() * (floor(b) - a + 1))
end
rand.uniform = uniform

rand.uniform_double = function() return random() end

function rand.uniform_uint64()
   return ffi.new("uint64_t", random(0, HIGHEST)) * 4294967296ULL + random(0, HIGHEST)
end

-- The mean of some uniform numbers.
local function bell()
   local sum, count = 0, opt.rand_spec_iter
   for _ = 1, count do sum = sum + random() end
   return sum / count
end

function rand.gaussian(a, b)
   a = floor(a)
   return a + floor(bell() * (floor(b) - a + 1))
end

-- A share of `rand_spec_res` % lies uniformly in a hot part, the rest is bell-shaped over the range without its last
-- value. A part of `rand_spec_pct` % of the range and one value more is centred in the range, and the hot part is the
-- last `rand_spec_res` % of it, which need not begin or end between two values. Found by counting what sysbench 1.0.20
-- draws: see the test `distributions_are_those_of_sysbench`.
local function special(a, b)
   a, b = floor(a), floor(b)
   local share = opt.rand_spec_res / 100
   if random() >= share then return a + floor(bell() * (b - a)) end
   local part = (b - a) * opt.rand_spec_pct / 100 + 1
   return floor((a + b + 1 + part) / 2 - part * share * (1 - random()))
end
rand.special = special

-- A share of 1 - h lies in the first h of the range.
function rand.pareto(a, b)
   a = floor(a)
   local h = opt.rand_pareto_h
   return a + floor((floor(b) - a + 1) * random() ^ (log(h) / log(1 - h)))
end

-- Rejection-inversion (Hörmann and Derflinger, 1996), with constants that are kept per range and exponent.
local zipf = {}

local function integral(x, s)
   local t = (1 - s) * log(x)
   if t > -1e-8 and t < 1e-8 then return log(x) end
   return (exp(t) - 1) / (1 - s)
end

local function inverse(x, s)
   local t = x * (1 - s)
   if t > -1e-8 and t < 1e-8 then return exp(x) end
   return exp(log(max(1 + t, 0)) / (1 - s))
end

function rand.zipfian(a, b)
   a = floor(a)
   local n, s, z = floor(b) - a + 1, opt.rand_zipfian_exp, zipf
   if z.n ~= n or z.s ~= s then
      z.n, z.s = n, s
      z.low, z.high = integral(1.5, s) - 1, integral(n + 0.5, s)
      z.accept = 2 - inverse(integral(2.5, s) - exp(-s * log(2)), s)
   end
   while true do
      local u = z.high + random() * (z.low - z.high)
      local x = inverse(u, s)
      local k = min(max(floor(x + 0.5), 1), n)
      if k - x <= z.accept or u >= integral(k + 0.5, s) - exp(-s * log(k)) then return a + k - 1 end
   end
end

-- A number that no thread of this process has had.
rand.unique = host.unique

local chosen

-- Chosen when it is first used: the script's own options are not known before.
function rand.default(a, b)
   chosen = chosen or rand[opt.rand_type]
   return chosen(a, b)
end

local buffer, room = nil, 0

local function reserve(length)
   if length > room then
      room = max(length, 256)
      buffer = ffi.new("uint8_t[?]", room)
   end
   return buffer
end

-- Replaces each # by a digit and each @ by a letter.
function rand.string(format)
   local length = #format
   local out = reserve(length)
   for i = 1, length do
      local byte = format:byte(i)
      if byte == 35 then
         byte = 48 + floor(random() * 10)
      elseif byte == 64 then
         byte = 97 + floor(random() * 26)
      end
      out[i - 1] = byte
   end
   return ffi.string(out, length)
end

-- Letters and digits, of a uniformly distributed length.
function rand.varstring(shortest, longest)
   local length = uniform(shortest, longest)
   local out = reserve(length)
   for i = 0, length - 1 do
      local drawn = floor(random() * 36)
      out[i] = drawn < 10 and 48 + drawn or 87 + drawn
   end
   return ffi.string(out, length)
end

sysbench.rand = rand

-- Names of sysbench 0.5.
sb_rand = rand.default
sb_rand_uniform, sb_rand_gaussian, sb_rand_special = rand.uniform, rand.gaussian, rand.special
sb_rand_pareto, sb_rand_zipfian = rand.pareto, rand.zipfian
sb_rand_str = rand.string
sb_rnd = function() return random(0, HIGHEST) end

-- A unique number within bounds, which both may be missing.
function sb_rand_uniq(a, b)
   a, b = a or 0, b or HIGHEST
   while true do
      local drawn = rand.unique()
      if drawn >= a and drawn <= b then return drawn end
   end
end

for _, name in ipairs {"uniform", "gaussian", "special", "pareto", "zipfian", "unique", "default", "uniform_uint64",
   "uniform_double"} do
   host.symbols["sb_rand_" .. name] = function(...) return rand[name](...) end
end
