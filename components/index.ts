import { type ComponentRegistry, componentRegistry } from '../runtime/interpreter/component.ts';
import { answer } from './answer/index.ts';
import { call } from './call/index.ts';
import { collect } from './collect/index.ts';
import { echo } from './echo/index.ts';
import { hangup } from './hangup/index.ts';
import { ifComponent } from './if/index.ts';
import { join } from './join/index.ts';
import { menu } from './menu/index.ts';
import { play } from './play/index.ts';
import { refer } from './refer/index.ts';
import { reject } from './reject/index.ts';
import { report } from './report/index.ts';
import { ring } from './ring/index.ts';
import { set } from './set/index.ts';
import { takeOver } from './take_over/index.ts';
import { wait } from './wait/index.ts';

/** Every component there is. */
export const components: ComponentRegistry = componentRegistry([
  answer,
  ring,
  reject,
  hangup,
  play,
  collect,
  menu,
  echo,
  wait,
  call,
  refer,
  takeOver,
  join,
  set,
  ifComponent,
  report,
]);
