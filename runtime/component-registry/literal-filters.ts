/** Checks filters that are written out in a scenario. The class is not known here, so every property exists. */
import { ExpressionParser, type FieldTypes, FilterError, parseFilter } from '../model/index.ts';
import type { Component } from '../runs/index.ts';

const ANY_PROPERTY: FieldTypes = { get: () => 'json' };

/** The component, with a check of its setting `filter`. */
export function checkingFilter(component: Component): Component {
  return {
    ...component,
    check: (settings, ...given) => [...(component.check?.(settings, ...given) ?? []), ...mistakes(settings['filter'])],
  };
}

function mistakes(filter: unknown): readonly string[] {
  if (filter === undefined) return [];
  try {
    parseFilter(new ExpressionParser({ fields: ANY_PROPERTY, now: 0 }), filter);
    return [];
  } catch (error) {
    if (error instanceof FilterError) return [error.message];
    throw error;
  }
}
