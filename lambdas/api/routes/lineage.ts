import type { Route } from "../route";

export const lineageRoutes: readonly Route[] = [];
