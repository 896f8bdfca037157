/** What the stores' hash indexes share. */

/** With or without angle brackets; the host without regard to case. */
export function normalUri(uri: string): string {
  const plain = uri.trim().replace(/^<|>$/g, '');
  const at = plain.lastIndexOf('@');
  return at === -1 ? plain.toLowerCase() : plain.slice(0, at) + plain.slice(at).toLowerCase();
}

/** Files `id` under `key`. */
export function add(map: Map<string, Set<string>>, key: string, id: string): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([id]));
  else set.add(id);
}

/** Takes `id` away from `key`. */
export function remove(map: Map<string, Set<string>>, key: string, id: string): void {
  const set = map.get(key);
  if (set === undefined) return;
  set.delete(id);
  if (set.size === 0) map.delete(key);
}
