/** Classes of events that are published only while somebody wants them: they are too many to be made for nobody. */
const ON_DEMAND: ReadonlySet<string> = new Set(['runevents']);

/** @param name of a class of events */
export function isOnDemand(name: string): boolean {
  return ON_DEMAND.has(name);
}

/** Whether a selection names such events, as `class` or `class.type`. One of all events leaves them out. */
export function namesOnDemand(events: readonly string[] = []): boolean {
  return events.some((name) => isOnDemand(name.split('.', 1)[0] ?? ''));
}
