import { END } from '../../component.ts';

/** The control flow between blocks: block -> targets of its exits. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** Blocks that can run when the run starts at one of `roots`, the roots included. */
export function reachableFrom(graph: Graph, roots: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const targets = graph.get(name);
    if (name === END || reached.has(name) || !targets) continue;
    reached.add(name);
    open.push(...targets);
  }
  return reached;
}

/** Blocks that can run after `name`. */
export function successors(graph: Graph, name: string): Set<string> {
  return reachableFrom(graph, graph.get(name) ?? []);
}
