import type { Route } from "../route";

export const modelPolicyRoutes: readonly Route[] = [];
