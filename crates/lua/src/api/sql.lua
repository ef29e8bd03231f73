-- Connections, statements and results. Each call to the database is a request (see start.lua).
local host, request = ...
local unpack, concat = unpack, table.concat
local error, type, tostring, tonumber = error, type, tostring, tonumber
local setmetatable, select = setmetatable, select

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
   return setmetatable({id = id, text = text, con = self, count = 0, values = {}}, statements)
end

function statement:bind_create(kind, length)
   return setmetatable({kind = kind, length = length, values = {}, index = 1}, parameters)
end

-- Parameters write their values where the statement reads them.
function statement:bind_param(...)
   self.count = select("#", ...)
   for i = 1, self.count do
      local bound = select(i, ...)
      self.values[i] = bound.values[bound.index]
      bound.values, bound.index = self.values, i
   end
end

function statement:execute()
   local con, count, values = self.con, self.count, self.values
   if connected ~= con or self.id == nil then error("the statement or its connection is closed", 2) end
   if count == 1 then
      return answered(con, self.text, request(EXECUTE, self.id, values[1]))
   elseif count == 2 then
      return answered(con, self.text, request(EXECUTE, self.id, values[1], values[2]))
   end
   return answered(con, self.text, request(EXECUTE, self.id, unpack(values, 1, count)))
end

function statement:close() self.id = nil end

function parameter:set(value)
   if type(value) == "cdata" then value = tonumber(value) end
   self.values[self.index] = value
end

function parameter:set_rand_str(format) self.values[self.index] = sysbench.rand.string(format) end

function result:fetch_row() return host.fetch(self[ID]) end

function result:free() host.free(self[ID]) end

sysbench.sql = sql
sysbench.db = sql

-- Names of sysbench 0.5, for its one connection.
local first

DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2

function db_connect()
   first = sql.driver():connect()
   return first
end

local function current() return first or db_connect() end

function db_disconnect()
   if first then first:disconnect() end
   first = nil
end

function db_query(text) return current():query(text) end
function db_bulk_insert_init(text) return current():bulk_insert_init(text) end
function db_bulk_insert_next(text) return current():bulk_insert_next(text) end
function db_bulk_insert_done() return current():bulk_insert_done() end
function db_prepare(text) return current():prepare(text) end
function db_execute(prepared) return prepared:execute() end
function db_close(prepared) return prepared:close() end
function db_store_results(rs) return rs end
function db_free_results(rs) if rs then rs:free() end end
