import type { EmirateName } from './emirates.ts';
import { ABU_DHABI } from './places/abu-dhabi.ts';
import { DUBAI } from './places/dubai.ts';
import { AJMAN, FUJAIRAH, RAS_AL_KHAIMAH, UMM_AL_QUWAIN } from './places/northern-emirates.ts';
import { SHARJAH } from './places/sharjah.ts';
import type { PlaceNames } from './spellings.ts';

/**
 * Cities, districts, islands and free zones that senders give instead of an emirate. Only names that identify one emirate; the others are
 * in `SHARED_PLACES`.
 */
export const PLACES: Readonly<Record<EmirateName, readonly PlaceNames[]>> = {
  'Abu Dhabi': ABU_DHABI,
  Ajman: AJMAN,
  Dubai: DUBAI,
  Fujairah: FUJAIRAH,
  'Ras Al Khaimah': RAS_AL_KHAIMAH,
  Sharjah: SHARJAH,
  'Umm Al Quwain': UMM_AL_QUWAIN,
};
