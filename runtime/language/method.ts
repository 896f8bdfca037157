import type { ComponentDefinition, ComponentDefinitions } from './component.ts';

/** The name a component has in scripts and modules, e.g. `call.play`; undefined when it is not there. */
export function methodOf({ name, method }: ComponentDefinition): string | undefined {
  if (method === false) return undefined;
  return method ?? `call.${name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

/** Whether it does something to a call, so that `leg` can say to which. */
export function usesCall(component: ComponentDefinition): boolean {
  return component.name === 'run' || methodOf(component)?.startsWith('call.') === true;
}

/** Facts of the call and of the run, beside the components: `await call.info()`, `await scenario.info()`. */
export const CALL_INFO = 'call.info';
export const SCENARIO_INFO = 'scenario.info';

/** All components that scripts can use, by their dotted name. */
export function methods(components: ComponentDefinitions): ReadonlyMap<string, ComponentDefinition> {
  const found = new Map<string, ComponentDefinition>();
  for (const component of components.values()) {
    const method = methodOf(component);
    if (method !== undefined) found.set(method, component);
  }
  return found;
}
