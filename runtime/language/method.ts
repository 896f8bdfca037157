import type { ComponentDefinition, ComponentDefinitions } from './component.ts';

/** The component's name in scripts and modules, e.g. `call.play`; undefined when it is not available. */
export function methodOf({ name, method }: ComponentDefinition): string | undefined {
  if (method === false) return undefined;
  return method ?? `call.${name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

/** True for a component that acts on a call, so that `leg` can select the call. */
export function usesCall(component: ComponentDefinition): boolean {
  return component.name === 'run' || methodOf(component)?.startsWith('call.') === true;
}

/** Functions for facts of the call and of the run: `await call.info()`, `await scenario.info()`. */
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
