import type { Route } from "../route";

export const servingRoutes: readonly Route[] = [];
