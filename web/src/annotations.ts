// Comments on files, as package ahp/annotation reduces them.
import { reducer } from "./reduce";

const put = (all: any[], v: any) => (all.some((o) => o.id === v.id) ? all.map((o) => (o.id === v.id ? v : o)) : [...all, v]);

const change = (s: any, id: string, f: (n: any) => any) => ({ ...s, annotations: (s.annotations ?? []).map((n: any) => (n.id === id ? f(n) : n)) });

export const reduceAnnotations = reducer<any>({
  "annotations/set": (s, a) => ({ ...s, annotations: put(s.annotations ?? [], a.annotation) }),
  "annotations/updated": (s, a) =>
    change(s, a.annotationId, (n) => ({
      ...n,
      ...(a.origin && { origin: a.origin }),
      ...(a.resource && { resource: a.resource }),
      ...(a.range && { range: a.range }),
      ...(a.resolved !== undefined && { resolved: a.resolved }),
    })),
  "annotations/removed": (s, a) => ({ ...s, annotations: (s.annotations ?? []).filter((n: any) => n.id !== a.annotationId) }),
  "annotations/entrySet": (s, a) => change(s, a.annotationId, (n) => ({ ...n, entries: put(n.entries, a.entry) })),
  "annotations/entryRemoved": (s, a) => change(s, a.annotationId, (n) => ({ ...n, entries: n.entries.filter((e: any) => e.id !== a.entryId) })),
});
