import type { CaseGroup, Step } from "../case";
import { onExperiment, onRun } from "./steps";

/** A body as it is sent: `9.0` is not a number of JavaScript's. */
const raw = (path: string, raw: string, more: Partial<Step> = {}): Step => ({
  method: "POST",
  path: `mlflow/${path}`,
  raw,
  headers: { "content-type": "application/json" },
  ...more,
});

/** A value of a wrong type, which the message shows as it was sent: MLflow's own client tests read it. */
const wrong = (value: string, parameter: string, path: string, body: string): Step =>
  raw(path, body, { says: `Invalid value ${value} for parameter '${parameter}' supplied` });

const ofRun = (path: string, members: string, more: Partial<Step> = {}): Step =>
  raw(path, `{"run_id":"<run>",${members}}`, more);

const missing = (parameter: string): Partial<Step> => ({
  says: `Missing value for required parameter '${parameter}'.`,
});

const outOfRange = { why: "MLflow's server keeps 64 bits; ours what a double holds exactly", status: 400 } as const;
const unreadable = { why: "MLflow's server takes it for 0 or leaves it out", status: 400 } as const;

export const refusalCases: CaseGroup = {
  group: "refusals",
  cases: [
    onExperiment(
      "a value of a wrong type is shown as it was sent",
      wrong("123", "name", "experiments/create", '{"name":123}'),
      wrong("9.0", "name", "experiments/create", '{"name":9.0}'),
      wrong("true", "name", "experiments/create", '{"name":true}'),
      raw("experiments/create", '{"name":[null,false,"1.0"]}'),
      raw("experiments/create", '{"name":{"b":1.0}}'),
      wrong("9.0", "artifact_location", "experiments/create", '{"name":"<nonce>-x","artifact_location":9.0}'),
      wrong('"5"', "tags", "experiments/create", '{"name":"<nonce>-x","tags":"5"}'),
      wrong('"many"', "max_results", "experiments/search", '{"max_results":"many"}'),
      wrong("9.0", "experiment_id", "runs/create", '{"experiment_id":9.0}'),
      wrong('"abc"', "start_time", "runs/create", '{"experiment_id":"<experiment>","start_time":"abc"}'),
      wrong("5.0", "experiment_ids", "runs/search", '{"experiment_ids":5.0}'),
      wrong("1000000", "max_results", "runs/search", '{"experiment_ids":["<experiment>"],"max_results":1000000}'),
      wrong("9.0", "name", "registered-models/create", '{"name":9.0}'),
      wrong('{"a":1.0}', "tags", "registered-models/create", '{"name":"<nonce>-x","tags":{"a":1.0}}'),
    ),
    onRun(
      "what is logged with a wrong type is shown as it was sent",
      wrong("31", "run_id", "runs/log-metric", '{"run_id":31,"key":"m","value":2.0,"timestamp":5}'),
      ...[
        ['"abc"', "value", "runs/log-metric", '"key":"m","value":"abc","timestamp":5'],
        ["-5", "timestamp", "runs/log-metric", '"key":"m","value":2,"timestamp":-5'],
        ["31", "key", "runs/log-parameter", '"key":31,"value":"41"'],
        ["41.0", "value", "runs/log-parameter", '"key":"a","value":41.0'],
        ['["x",2.0]', "value", "runs/set-tag", '"key":"foo","value":["x",2.0]'],
        ["123", "run_name", "runs/update", '"run_name":123'],
        ['"foo"', "metrics", "runs/log-batch", '"metrics":"foo"'],
        ['"foo"', "params", "runs/log-batch", '"params":"foo"'],
        ["7.0", "tags", "runs/log-batch", '"tags":7.0'],
      ].map(([value = "", parameter = "", path = "", members = ""]) =>
        wrong(value, parameter, path, `{"run_id":"<run>",${members}}`),
      ),
      ofRun("runs/log-batch", '"metrics":[{"key":"mae","value":2.5}]', missing("metrics[0].timestamp")),
      ofRun("runs/log-batch", '"metrics":[{"value":2.5,"timestamp":1}]', missing("metrics[0].key")),
      ofRun("runs/log-batch", '"metrics":[{"key":"mae","value":2.5,"timestamp":1.5}]', { ours: unreadable }),
    ),
    onRun(
      "steps and times beyond what a double holds",
      ofRun("runs/log-metric", '"key":"m","value":1,"timestamp":59,"step":9007199254740991'),
      ofRun("runs/log-metric", '"key":"m","value":1,"timestamp":59,"step":-9007199254740991'),
      ofRun("runs/log-metric", '"key":"m","value":1,"timestamp":59,"step":9007199254740993', { ours: outOfRange }),
      ofRun("runs/log-metric", '"key":"m","value":1,"timestamp":9223372036854775807,"step":1', { ours: outOfRange }),
      ofRun("runs/log-metric", '"key":"m","value":1,"timestamp":9223372036854775808,"step":1', { ours: outOfRange }),
    ),
  ],
};
