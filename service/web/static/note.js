// A page that says what is not there, in the colours that were chosen on the first page.
import {applyTheme} from "./theme.js";

applyTheme();
