/** The action that a Task state's Resource requests. */
export type Resource =
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "integration"; readonly service: "lambda" | "events"; readonly api: string };

const functionArn = /^arn:aws[\w-]*:lambda:[\w-]*:\d*:function:([\w-]+)(?::[\w$-]+)?$/;
const integrations: Readonly<Record<string, Resource>> = {
  "arn:aws:states:::lambda:invoke": { kind: "integration", service: "lambda", api: "invoke" },
  "arn:aws:states:::lambda:invoke.waitForTaskToken": {
    kind: "integration",
    service: "lambda",
    api: "invoke.waitForTaskToken",
  },
  "arn:aws:states:::events:putEvents": { kind: "integration", service: "events", api: "putEvents" },
};

/** Parses a resource. Returns undefined if it is not implemented. */
export function parseResource(resource: string): Resource | undefined {
  const name = functionArn.exec(resource)?.[1];
  return name ? { kind: "function", name } : integrations[resource];
}

export const implementedResources = [...Object.keys(integrations), "a Lambda function's ARN"].join(", ");

/** Returns the bare name in a function's name, partial ARN or ARN, with or without a qualifier. */
export function functionName(reference: string): string {
  const bare = reference.includes("function:") ? reference.slice(reference.indexOf("function:") + 9) : reference;
  return bare.split(":")[0] ?? bare;
}
