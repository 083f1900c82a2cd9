/** Links to the things that a page names; `undefined` for a page that was saved to a file. */
export interface Links {
  readonly run: (runId: string) => string | undefined;
  readonly experiment: (
    experimentId: string,
    query?: Readonly<Record<string, string | undefined>>,
  ) => string | undefined;
  readonly experiments: (after?: string) => string | undefined;
  readonly compare: (runIds: readonly string[], baseline?: string) => string | undefined;
  /** The page that registers a run's model; its query has the model's name. */
  readonly register: (runId: string) => string | undefined;
  readonly artifact: (runId: string, path: string) => string | undefined;
  readonly monitorWindow: (monitor: string, window: number) => string | undefined;
  readonly documentation: () => string | undefined;
}

/** Maximum length of a URL that gateways and browsers reliably accept. */
const maxQuery = 6_000;

/** Relative links work under any host name, stage or proxy. `pages` is the path from the page to `/api/v1/pages/`. */
export function relativeLinks(pages: string): Links {
  const part = encodeURIComponent;
  return {
    run: (runId) => `${pages}runs/${part(runId)}`,
    experiment: (experimentId, query = {}) => `${pages}experiments/${part(experimentId)}${queryText(query)}`,
    experiments: (after) => `${pages}experiments${queryText({ nextToken: after })}`,
    compare: (runIds, baseline) => {
      const href = `${pages}compare${queryText({ runs: JSON.stringify(runIds), baseline })}`;
      return href.length > maxQuery ? undefined : href;
    },
    register: (runId) => `${pages}runs/${part(runId)}/register`,
    artifact: (runId, path) => `${pages}runs/${part(runId)}/artifact${queryText({ path })}`,
    monitorWindow: (monitor, window) => `${pages}monitors/${part(monitor)}/windows/${window}`,
    documentation: () => `${pages}../docs`,
  };
}

const nowhere = (): undefined => undefined;

export const noLinks: Links = {
  run: nowhere,
  experiment: nowhere,
  experiments: nowhere,
  compare: nowhere,
  register: nowhere,
  artifact: nowhere,
  monitorWindow: nowhere,
  documentation: nowhere,
};

function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries).toString()}`;
}
