-- Connections, statements and results. Each call to the database is a request (see start.lua).
local host, request = ...
local unpack, concat = unpack, table.concat
local error, type, tostring, tonumber, pairs = error, type, tostring, tonumber, pairs
local setmetatable, select = setmetatable, select
local floor, ceil = math.floor, math.ceil

-- The numbers are those of `Request` in state.rs.
local CONNECT, DISCONNECT, QUERY, PREPARE, EXECUTE = 3, 4, 5, 6, 7
-- Bytes of a bulk insert after which it is sent.
local BULK_BYTES = 512 * 1024

local sql = {
   type = {
      NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8,
      DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
   },
   error = {NONE = 0, IGNORABLE = 1, FATAL = 2},
}
local driver, connection, statement, parameter, result = {}, {}, {}, {}, {}
local drivers = {__index = driver}
local connections, statements, parameters = {__index = connection}, {__index = statement}, {__index = parameter}

-- A result: its id, number of rows, number of columns, and whether the script has used it. One that it has not used is
-- replaced by the next one (in sysbench, the next statement replaces every result), so that statements whose results
-- nobody reads leave no garbage.
local ID, ROWS, COLUMNS, USED = 1, 2, 3, 4
local last
local results = {__index = function(rs, key)
   if not rs[USED] then
      rs[USED] = true
      host.use(rs[ID])
   end
   if key == "nrows" then return rs[ROWS] elseif key == "nfields" then return rs[COLUMNS] end
   return result[key]
end}

-- Raises the error of the last request.
local function fail(con, query)
   local number, state, message, is_ignorable = host.failure()
   local failure = {
      connection = con, query = query, sql_errno = number, sql_state = state, sql_errmsg = message,
   }
   con.sql_errno, con.sql_state, con.sql_errmsg = number, state, message
   local hook = sysbench.hooks.sql_error_ignorable
   if is_ignorable or (type(hook) == "function" and hook(failure)) then
      con.error = sql.error.IGNORABLE
      failure.errcode = sysbench.error.RESTART_EVENT
      error(setmetatable(failure, {__tostring = function() return message end}), 3)
   end
   con.error = sql.error.FATAL
   error(("SQL error, errno = %d, state = '%s': %s"):format(number, state, message), 3)
end

-- The result of an answer: its id, 0 if there is none, or a negative number after an error.
local function answered(con, query, id, rows, columns)
   if id > 0 then
      if last == nil or last[USED] then
         last = setmetatable({id, rows, columns, false}, results)
      else
         last[ID], last[ROWS], last[COLUMNS] = id, rows, columns
      end
      return last
   elseif id < 0 then
      fail(con, query)
   end
end

function sql.driver(name)
   if name ~= nil and name ~= host.driver then
      error("the driver of this run is " .. host.driver .. ", not " .. tostring(name), 2)
   end
   return setmetatable({}, drivers)
end

function driver:name() return host.driver end
function driver:disconnect() end

local connected

function driver:connect()
   if connected then
      error("a thread has one connection: disconnect it before the next connect()", 2)
   end
   local con = setmetatable({error = sql.error.NONE, driver = self}, connections)
   if request(CONNECT) < 0 then fail(con, "") end
   connected = con
   return con
end

function connection:disconnect()
   if connected == self then
      connected = nil
      request(DISCONNECT)
   end
end

function connection:reconnect()
   if request(CONNECT) < 0 then fail(self, "") end
end

local function is_open(con)
   if connected ~= con then error("the connection is closed", 3) end
end

function connection:query(text)
   is_open(self)
   return answered(self, text, request(QUERY, text))
end

function connection:query_row(text)
   is_open(self)
   local rs = answered(self, text, request(QUERY, text))
   if rs == nil or rs.nrows == 0 then return nil end
   local row = rs:fetch_row()
   rs:free()
   return unpack(row, 1, rs.nfields)
end

function connection:bulk_insert_init(text)
   is_open(self)
   self.bulk = {text = text, values = {}, bytes = 0}
end

local function flush(con, bulk)
   if #bulk.values == 0 then return end
   local text = bulk.text .. " " .. concat(bulk.values, ",")
   bulk.values, bulk.bytes = {}, 0
   answered(con, bulk.text, request(QUERY, text))
end

function connection:bulk_insert_next(text)
   local bulk = self.bulk or error("bulk_insert_next() without bulk_insert_init()", 2)
   bulk.values[#bulk.values + 1] = text
   bulk.bytes = bulk.bytes + #text + 1
   if bulk.bytes >= BULK_BYTES then flush(self, bulk) end
end

function connection:bulk_insert_done()
   local bulk = self.bulk
   self.bulk = nil
   if bulk then flush(self, bulk) end
end

function connection:prepare(text)
   is_open(self)
   local id = request(PREPARE, text)
   if id < 0 then fail(self, text) end
   return setmetatable({id = id, text = text, con = self, count = 0, params = {}, values = {}}, statements)
end

-- Kinds of parameters: their values are converted as in sysbench, which copies them into C variables.
local WHOLE, FLOAT, TEXT = 1, 2, 3
local kinds = {
   [sql.type.TINYINT] = WHOLE, [sql.type.SMALLINT] = WHOLE, [sql.type.INT] = WHOLE, [sql.type.BIGINT] = WHOLE,
   [sql.type.FLOAT] = FLOAT, [sql.type.DOUBLE] = FLOAT, [sql.type.CHAR] = TEXT, [sql.type.VARCHAR] = TEXT,
}

-- A parameter that is never set has the value of a C variable that nobody wrote.
function statement:bind_create(kind, length)
   kind = kinds[kind]
   local value
   if kind == TEXT then value = "" elseif kind then value = 0 end
   return setmetatable({kind = kind, length = length, value = value}, parameters)
end

function statement:bind_param(...)
   self.count = select("#", ...)
   self.params = {...}
end

function statement:execute()
   local con, count, params, values = self.con, self.count, self.params, self.values
   if connected ~= con or self.id == nil then error("the statement or its connection is closed", 2) end
   if count == 1 then
      return answered(con, self.text, request(EXECUTE, self.id, params[1].value))
   elseif count == 2 then
      return answered(con, self.text, request(EXECUTE, self.id, params[1].value, params[2].value))
   end
   for i = 1, count do values[i] = params[i].value end
   return answered(con, self.text, request(EXECUTE, self.id, unpack(values, 1, count)))
end

function statement:close() self.id = nil end

-- The first bytes of a text, but no part of a character.
local function cut(text, length)
   if length == nil or #text <= length then return text end
   local following = text:byte(length + 1)
   while length > 0 and following >= 128 and following < 192 do
      following = text:byte(length)
      length = length - 1
   end
   return text:sub(1, length)
end

function parameter:set(value)
   if type(value) == "cdata" then value = tonumber(value) end
   local kind = self.kind
   if kind == WHOLE and type(value) == "number" then
      value = value < 0 and ceil(value) or floor(value)
   elseif kind == TEXT and type(value) == "string" then
      value = cut(value, self.length)
   end
   self.value = value
end

function parameter:set_rand_str(format) self.value = cut(sysbench.rand.string(format), self.length) end

function result:fetch_row() return host.fetch(self[ID]) end

function result:free() host.free(self[ID]) end

sysbench.sql = sql

-- Names of sysbench 0.5, for its one connection. They are globals, and in `sysbench.db` without their prefix.
local first
local db = {DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2}

function db.connect()
   first = first or sql.driver():connect()
end

local function current()
   db.connect()
   return first
end

function db.disconnect()
   if first then first:disconnect() end
   first = nil
end

-- Results of texts cannot be read.
function db.query(text) current():query(text) end
function db.bulk_insert_init(text) current():bulk_insert_init(text) end
function db.bulk_insert_next(text) current():bulk_insert_next(text) end
function db.bulk_insert_done() current():bulk_insert_done() end
function db.prepare(text) return current():prepare(text) end

-- Binds the values of a table, which are read anew for each execution. What is a number now is a whole number, what is
-- a text is a text of any length.
function db.bind_param(prepared, values)
   if type(values) ~= "table" then error("table was expected", 2) end
   if #values == 0 then error("table is empty", 2) end
   local params = {}
   for i = 1, #values do
      local kind = type(values[i])
      if kind ~= "number" and kind ~= "string" then error("Unsupported variable type: " .. kind, 2) end
      params[i] = prepared:bind_create(kind == "number" and sql.type.INT or sql.type.VARCHAR)
   end
   prepared.bound = values
   prepared:bind_param(unpack(params, 1, #params))
end

-- Rows of prepared statements cannot be read.
function db.bind_result(prepared, values)
   if type(values) ~= "table" then error("table was expected", 2) end
end

function db.execute(prepared)
   local bound, params = prepared.bound, prepared.params
   if bound then
      for i = 1, prepared.count do params[i]:set(bound[i]) end
   end
   return prepared:execute()
end

function db.close(prepared) return prepared:close() end
function db.store_results(rs) return rs end
function db.free_results(rs) if rs then rs:free() end end

sysbench.db = db
for name, value in pairs(db) do
   _G[name:sub(1, 3) == "DB_" and name or "db_" .. name] = value
end
