/** Makes many entities from one request without blocking the thread, which also carries calls. */
import type { ResolvedClass } from './class-definition.ts';
import { makeEntity } from './entity.ts';
import { ofSeveral } from './errors.ts';
import { Slices } from './memory/slices.ts';
import type { Entity, Input } from './fields.ts';

/**
 * @param now milliseconds since the epoch
 * @throws InvalidFieldError with the index of the input before the field: `2.name`
 */
export async function makeEntities(
  definition: ResolvedClass,
  inputs: readonly Input[],
  now: number,
): Promise<readonly Entity[]> {
  const slices = await Slices.begin();
  const entities: Entity[] = [];
  for (const [index, input] of inputs.entries()) {
    entities.push(await ofSeveral(index, () => makeEntity(definition, input, undefined, { now })));
    if (slices.isOver) await slices.pause();
  }
  return entities;
}
