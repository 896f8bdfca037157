/** The components of a node and of the commands: the built-in ones, and one for each operation. */
import { builtInComponents } from '../../components/index.ts';
import { operationComponents } from '../operations/index.ts';
import { type ComponentRegistry, componentRegistry } from '../runs/index.ts';
import { checkingFilter } from './literal-filters.ts';

export { domainClasses } from './domain-classes.ts';
export { ofModel } from './model-errors.ts';
export { selectEntities } from './select-entities.ts';

/** Every component that a scenario may use, by name. */
export const components: ComponentRegistry = componentRegistry([
  ...builtInComponents.map((each) => (each.name === 'model_list' ? checkingFilter(each) : each)),
  ...operationComponents,
]);
