/** The way of a run through a graph. */
import type { TraceEntry } from '../run-types.ts';
import type { Graph } from '../scenario-types.ts';

/**
 * Ids of the nodes of the steps; undefined for a step that the graph does not show. A module may call the same function in
 * several places: the next one from where the run is counts.
 */
export function wayOf({ nodes, edges }: Graph, trace: readonly TraceEntry[]): readonly (string | undefined)[] {
  const after = Map.groupBy(edges, ({ from }) => from);
  let at: string | undefined = 'start';
  return trace.map(({ block }) => {
    const wanted = new Set(nodes.filter((node) => node.block === block).map(({ id }) => id));
    const found = wanted.size <= 1 ? [...wanted][0] : nearest(at);
    at = found ?? at;
    return found;

    function nearest(from: string | undefined): string | undefined {
      const seen = new Set<string>();
      let front = from === undefined ? [] : [from];
      while (front.length > 0) {
        front = front.flatMap((id) => (after.get(id) ?? []).map(({ to }) => to)).filter((id) => !seen.has(id));
        for (const id of front) {
          if (wanted.has(id)) return id;
          seen.add(id);
        }
      }
      return [...wanted][0];
    }
  });
}

/** Passed nodes and the present one, after a number of steps. @param step index of the trace */
export function litAt(
  graph: Graph | undefined,
  trace: readonly TraceEntry[],
  step: number,
): { readonly passed: ReadonlySet<string>; readonly current: string | undefined } {
  if (graph === undefined) return { passed: new Set(), current: undefined };
  const way = wayOf(graph, trace.slice(0, step + 1));
  return { passed: new Set(['start', ...way.filter((id) => id !== undefined)]), current: way.at(-1) };
}
