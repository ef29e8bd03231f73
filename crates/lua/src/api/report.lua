-- Ready-made reports of a part of a run, for sysbench.hooks.report_intermediate and report_cumulative. `stat` has the
-- fields of `Stat` in state/report.rs.

local host = ...
local print, concat, write, flush = print, table.concat, io.write, io.flush

-- Rates per second, and what is not one.
local function figures(stat)
   local seconds = stat.time_interval
   local function rate(count) return seconds > 0 and count / seconds or 0 end
   return {
      time = stat.time_total, threads = stat.threads_running, tps = rate(stat.events),
      qps = rate(stat.reads + stat.writes + stat.other), reads = rate(stat.reads), writes = rate(stat.writes),
      other = rate(stat.other), latency = stat.latency_pct * 1000, errors = rate(stat.errors),
      reconnects = rate(stat.reconnects),
   }
end

-- A line for people.
function sysbench.report_default(stat)
   local of = figures(stat)
   print(("[ %.0fs ] thds: %d tps: %.2f qps: %.2f (r/w/o: %.2f/%.2f/%.2f) lat (ms,%d%%): %.2f err/s %.2f reconn/s: %.2f")
      :format(of.time, of.threads, of.tps, of.qps, of.reads, of.writes, of.other, sysbench.opt.percentile, of.latency,
      of.errors, of.reconnects))
end

local COLUMNS = {"time", "threads", "tps", "qps", "reads", "writes", "other", "latency", "errors", "reconnects"}

-- A line of CSV, without a heading.
function sysbench.report_csv(stat)
   local of, values = figures(stat), {}
   for i, name in ipairs(COLUMNS) do values[i] = (i <= 2 and "%.0f" or "%.2f"):format(of[name]) end
   print(concat(values, ","))
end

-- The array of objects that `report_json` writes has begun.
local is_open = false

local JSON = [[
  {
    "time": %4.0f,
    "threads": %.0f,
    "tps": %.2f,
    "qps": {
      "total": %.2f,
      "reads": %.2f,
      "writes": %.2f,
      "other": %.2f
    },
    "latency": %.2f,
    "errors": %.2f,
    "reconnects": %.2f
  }]]

-- An object of an array of JSON.
function sysbench.report_json(stat)
   local of = figures(stat)
   write(is_open and ",\n" or "[\n", JSON:format(of.time, of.threads, of.tps, of.qps, of.reads, of.writes, of.other,
      of.latency, of.errors, of.reconnects))
   flush()
   is_open = true
end

-- Ends the array, if one has begun.
function host.end_reports()
   if is_open then write("\n]\n") end
   flush()
   is_open = false
end
