import type { CaseGroup, Step } from "../case";
import { onExperiment, onRun } from "./steps";

/** A body as it stands: `9.0` is no number of JavaScript's. The message is compared: MLflow's own tests look into it. */
const refused = (path: string, raw: string, more: Partial<Step> = {}): Step => ({
  method: "POST",
  path: `mlflow/${path}`,
  raw,
  headers: { "content-type": "application/json" },
  compare: { message: true },
  ...more,
});

const ofRun = (path: string, members: string, more: Partial<Step> = {}): Step =>
  refused(path, `{"run_id":"<run>",${members}}`, more);

const outOfRange = { why: "MLflow's server keeps 64 bits; ours what a double holds exactly", status: 400 } as const;
const unreadable = { why: "MLflow's server takes it for 0 or leaves it out", status: 400 } as const;

export const refusalCases: CaseGroup = {
  group: "refusals",
  cases: [
    onExperiment(
      "a value of a wrong type is shown as it was sent",
      refused("experiments/create", '{"name":123}'),
      refused("experiments/create", '{"name":9.0}'),
      refused("experiments/create", '{"name":1e5}'),
      refused("experiments/create", '{"name":1.5e-5}'),
      refused("experiments/create", '{"name":12345678901234567890.0}'),
      refused("experiments/create", '{"name":12345678901234567890}'),
      refused("experiments/create", '{"name":-0.0}'),
      refused("experiments/create", '{"name":true}'),
      refused("experiments/create", '{"name":[null,false,"\\"1.0\\""]}'),
      refused("experiments/create", '{"name":{"b":1.0,"a":[null,false,"é\\u007f\\n"],"B":{}}}'),
      refused("experiments/create", '{"name":"<nonce>-x","artifact_location":9.0}'),
      refused("experiments/create", '{"name":"<nonce>-x","tags":"5"}'),
      refused("experiments/search", '{"max_results":"many"}'),
      refused("runs/create", '{"experiment_id":9.0}'),
      refused("runs/create", '{"experiment_id":"<experiment>","start_time":"abc"}'),
      refused("runs/search", '{"experiment_ids":5.0}'),
      refused("runs/search", '{"experiment_ids":["<experiment>"],"max_results":1000000}'),
      refused("registered-models/create", '{"name":9.0}'),
      refused("registered-models/create", '{"name":"<nonce>-x","tags":{"a":1.0}}'),
    ),
    onRun(
      "what is logged with a wrong type is shown as it was sent",
      refused("runs/log-metric", '{"run_id":31,"key":"m","value":2.0,"timestamp":5}'),
      ofRun("runs/log-metric", '"key":"m","value":"abc","timestamp":5'),
      ofRun("runs/log-metric", '"key":"m","value":2,"timestamp":-5'),
      ofRun("runs/log-metric", '"key":"m","value":1e17,"timestamp":-5'),
      ofRun("runs/log-parameter", '"key":31,"value":"41"'),
      ofRun("runs/log-parameter", '"key":"a","value":41.0'),
      ofRun("runs/set-tag", '"key":"foo","value":["x",2.0]'),
      ofRun("runs/update", '"run_name":123'),
      ofRun("runs/log-batch", '"metrics":"foo"'),
      ofRun("runs/log-batch", '"params":"foo"'),
      ofRun("runs/log-batch", '"tags":7.0'),
      ofRun("runs/log-batch", '"metrics":[{"key":"mae","value":2.5}]'),
      ofRun("runs/log-batch", '"metrics":[{"value":2.5,"timestamp":1}]'),
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
