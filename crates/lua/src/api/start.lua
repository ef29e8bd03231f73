-- The global tables of a script, before it is loaded, and how its thread runs.
--
-- A request is a yield: `yield(REQUEST, ...)` suspends the thread until the request has been answered. Nothing else
-- may yield, so scripts' own coroutines hand requests on (see `coroutine` below).
local host = ...
local ffi = require "ffi"
local yield, resume, running = coroutine.yield, coroutine.resume, coroutine.running
local randomseed = math.randomseed
-- Options of a script can replace globals: this file and the others keep what they use.
local tostring, error, select, type, pairs = tostring, error, select, type, pairs
local concat, write, flush = table.concat, io.write, io.flush

-- Requests; the numbers are those of `Request` in state.rs.
local IDLE, DONE, CONNECT, DISCONNECT = 1, 2, 3, 4

-- A request that is made in a coroutine of the script passes through all that surround it. The depth counts them; until
-- the thread runs it is nil.
local REQUEST, depth = {}, nil

local function request(...)
   if depth == 0 then return yield(...) end
   if depth == nil then
      -- The thread's session is open, or will be: only what is sent to it has to wait.
      local kind = ...
      if kind == CONNECT or kind == DISCONNECT then return 0 end
      error("the database cannot be used while the script is loaded, nor in a report hook: use it in a function such as "
         .. "thread_init()", 0)
   end
   return yield(REQUEST, ...)
end

local pass

local function passed(co, before, ok, mark, ...)
   depth = before
   if ok and mark == REQUEST then return pass(co, request(...)) end
   return ok, mark, ...
end

function pass(co, ...)
   local before = depth
   if before then depth = before + 1 end
   return passed(co, before, resume(co, ...))
end

coroutine.resume = pass

local function unwrapped(ok, ...)
   if not ok then error((...), 0) end
   return ...
end

function coroutine.wrap(f)
   local co = coroutine.create(f)
   return function(...) return unwrapped(pass(co, ...)) end
end

sysbench = {
   tid = host.tid,
   version = "1.0.20",
   version_string = "sysbench 1.0.20",
   cmdline = {
      command = host.command,
      script_path = host.script,
      argv = {[0] = host.script, host.command},
      PARALLEL_COMMAND = true,
      ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4,
      ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8,
   },
   hooks = {},
   error = {NONE = 0, RESTART_EVENT = 1},
}
-- What scripts for sysbench 0.5 expect as globals.
thread_id = host.tid
test = host.script
mysql_table_engine = "innodb"
myisam_max_rows = 1000000

-- What the random numbers read: a script cannot change it.
local options = {}
host.options = options

function host.set_option(name, value)
   options[name] = value
end

-- Lets the script see its options, when its main part has run. Where it declares none, all of them are globals, too, as
-- in scripts for sysbench 0.5, in the place of what had these names.
function host.show_options(declares)
   sysbench.opt = {}
   for name, value in pairs(options) do
      sysbench.opt[name] = value
      if not declares then _G[name] = value end
   end
end

ffi.cdef [[
typedef enum {
   SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_EVENT, SB_CNT_ERROR, SB_CNT_RECONNECT,
   SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
]]

-- sysbench's own symbols; all others are those of the C library.
host.symbols = {
   sb_counter_inc = function(_, counter) host.count(tonumber(counter), 1) end,
   sb_counter_add = function(_, counter, count) host.count(tonumber(counter), tonumber(count)) end,
   sb_more_events = function() return sysbench.more_events() end,
   sb_event_start = function() end,
   sb_event_stop = function() sysbench.event_stop() end,
}
package.loaded.ffi = setmetatable({
   C = setmetatable({}, {__index = function(_, name) return host.symbols[name] or ffi.C[name] end}),
}, {__index = ffi})

function os.exit()
   error("os.exit() is not available: a script ends when its functions return", 2)
end

if host.output == "stderr" then
   io.output(io.stderr)
elseif host.output == "nowhere" then
   io.output("/dev/null")
end

function print(...)
   local texts = {...}
   for i = 1, select("#", ...) do texts[i] = tostring(texts[i]) end
   -- In one piece, because other threads print, too.
   write(concat(texts, "\t") .. "\n")
   flush()
end

-- Whether the thread may begin an event: known from the answer to the last request.
local granted = false

local function grant(is_granted, seed)
   granted = is_granted
   if is_granted then randomseed(seed) end
end

function sysbench.more_events()
   if not granted then grant(request(IDLE)) end
   return granted
end

function sysbench.event_start() end

function sysbench.event_stop()
   grant(request(DONE))
end

function thread_run(id)
   while sysbench.more_events() do
      -- An event that returns something true ends the thread.
      if event(id) then return end
      sysbench.event_stop()
   end
end

local default_run = thread_run

function host.has_own_loop() return thread_run ~= default_run end

-- Makes the thread that runs a function of the script; `restarted` is the error after which an event is restarted.
function host.bind(name, restarted)
   return function() return host.run(name, restarted) end
end

function host.run(name, restarted)
   depth, granted = 0, false
   local hook = restarted and sysbench.hooks.before_restart_event
   if hook then hook(restarted) end
   local declared = name == host.command and type(sysbench.cmdline.commands) == "table"
      and sysbench.cmdline.commands[name]
   local f = declared and declared[1] or _G[name]
   if f then return f(host.tid) end
end

function host.has(name)
   local commands = sysbench.cmdline.commands
   if type(commands) == "table" and commands[name] then
      return commands[name][2] and "parallel" or "single"
   end
   return type(_G[name]) == "function" and "single" or nil
end

return request
