// Loaded before a service: sets its clock ahead of the others' by this number of milliseconds.

const shiftMs = Number(process.env.TEST_CLOCK_SHIFT_MS);
const rightNow = Date.now.bind(Date);
Date.now = () => rightNow() + shiftMs;
