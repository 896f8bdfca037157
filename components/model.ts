import { Type } from 'typebox';
import { unavailable } from '../runtime/runs/ports/capability.ts';
import type { ModelPort } from '../runtime/runs/ports/model.ts';
import type { RunServices } from '../runtime/runs/ports/services.ts';

/** What the model components share. */

export const CLASSNAME = Type.String({
  pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$',
  maxLength: 520,
  examples: ['crm/customers'],
  description: 'Name of the class.',
});

/** @throws ScenarioError code `unavailable` */
export function modelOf({ model }: RunServices): ModelPort {
  if (!model) throw unavailable('this node has no data model');
  return model;
}
