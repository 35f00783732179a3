/** The text of a mail in one language. A paragraph that is an address becomes a link. */
export interface MailText {
  subject: string;
  paragraphs: string[];
}

/** The values in a mail, in the language of its text. */
export interface MailValues {
  /** The portal's address. */
  portal: string;
  time: string;
  /** The browser and the system; null if they are unknown. */
  device: string | null;
  /** The one-time link; only for `password_reset`. */
  link: string;
}

export type MailKind =
  | 'password_reset'
  | 'password_changed'
  | 'second_factor_added'
  | 'second_factor_removed'
  | 'new_sign_in';

type Texts = Record<MailKind, (values: MailValues) => MailText>;

const TELL = 'Then tell the operator of the service.';
const NOT_YOU = `If it was not you, change your password in the portal at once. ${TELL}`;

const EN: Texts = {
  password_reset: ({ link, portal }) => ({
    subject: 'Set a new password',
    paragraphs: [
      `Somebody asked for a new password for your user in the order portal ${portal}. To set one, open this link within 60 minutes:`,
      link,
      'It works once. Setting the password ends all your sessions.',
      'If it was not you, ignore this mail: your password stays as it is. Give the link to nobody.',
    ],
  }),
  password_changed: ({ portal, time }) => ({
    subject: 'Your password was changed',
    paragraphs: [
      `The password of your user in the order portal was changed on ${time}. If it was you, there is nothing to do.`,
      `If it was not you, set a new password at once: choose “Forgot your password?” on the sign-in page. ${TELL}`,
      portal,
    ],
  }),
  second_factor_added: ({ portal, time }) => ({
    subject: 'A second factor was added',
    paragraphs: [
      `A second factor for signing in was added to your user in the order portal on ${time}. If it was you, there is nothing to do.`,
      NOT_YOU,
      portal,
    ],
  }),
  second_factor_removed: ({ portal, time }) => ({
    subject: 'A second factor was removed',
    paragraphs: [
      `A second factor for signing in was removed from your user in the order portal on ${time}. If it was you, there is nothing to do.`,
      NOT_YOU,
      portal,
    ],
  }),
  new_sign_in: ({ portal, time, device }) => ({
    subject: 'New sign-in',
    paragraphs: [
      `Somebody signed in to the order portal as you on ${time}, from a browser that was not known: ${device ?? 'an unknown one'}.`,
      'If it was you, there is nothing to do.',
      `If it was not you, open the portal, choose “Profile and sessions” in the menu with your name, end that session and change your password. ${TELL}`,
      portal,
    ],
  }),
};

const TELL_AR = 'ثم أخبر مشغّل الخدمة.';
const NOT_YOU_AR = `إن لم تكن أنت من فعل ذلك، فغيّر كلمة مرورك في البوابة فورًا. ${TELL_AR}`;

const AR: Texts = {
  password_reset: ({ link, portal }) => ({
    subject: 'تعيين كلمة مرور جديدة',
    paragraphs: [
      `طلب أحدهم كلمة مرور جديدة لمستخدمك في بوابة الطلبات ${portal}. لتعيينها افتح هذا الرابط خلال 60 دقيقة:`,
      link,
      'يعمل الرابط مرة واحدة. عند تعيين كلمة المرور تنتهي كل جلساتك.',
      'إن لم تكن أنت من طلب ذلك، فتجاهل هذه الرسالة: تبقى كلمة مرورك كما هي. لا تعطِ الرابط لأحد.',
    ],
  }),
  password_changed: ({ portal, time }) => ({
    subject: 'تم تغيير كلمة مرورك',
    paragraphs: [
      `تم تغيير كلمة مرور مستخدمك في بوابة الطلبات في ${time}. إن كنت أنت من فعل ذلك، فلا يلزمك شيء.`,
      `إن لم تكن أنت، فعيّن كلمة مرور جديدة فورًا: اختر «هل نسيت كلمة المرور؟» في صفحة تسجيل الدخول. ${TELL_AR}`,
      portal,
    ],
  }),
  second_factor_added: ({ portal, time }) => ({
    subject: 'تمت إضافة عامل تحقق ثانٍ',
    paragraphs: [
      `تمت إضافة عامل تحقق ثانٍ لتسجيل الدخول إلى مستخدمك في بوابة الطلبات في ${time}. إن كنت أنت من فعل ذلك، فلا يلزمك شيء.`,
      NOT_YOU_AR,
      portal,
    ],
  }),
  second_factor_removed: ({ portal, time }) => ({
    subject: 'تمت إزالة عامل تحقق ثانٍ',
    paragraphs: [
      `تمت إزالة عامل تحقق ثانٍ لتسجيل الدخول من مستخدمك في بوابة الطلبات في ${time}. إن كنت أنت من فعل ذلك، فلا يلزمك شيء.`,
      NOT_YOU_AR,
      portal,
    ],
  }),
  new_sign_in: ({ portal, time, device }) => ({
    subject: 'تسجيل دخول جديد',
    paragraphs: [
      `سجّل أحدهم الدخول إلى بوابة الطلبات باسمك في ${time} من متصفح لم يكن معروفًا: ${device ?? 'متصفح غير معروف'}.`,
      'إن كنت أنت من فعل ذلك، فلا يلزمك شيء.',
      `إن لم تكن أنت، فافتح البوابة واختر «الملف الشخصي والجلسات» من القائمة التي فيها اسمك، وأنهِ تلك الجلسة وغيّر كلمة المرور. ${TELL_AR}`,
      portal,
    ],
  }),
};

/** The text of each mail; a mail contains both languages. */
export const MAIL_TEXTS = { en: EN, ar: AR };
