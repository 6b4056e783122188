//! Remarks in the words of the package.

use bochner::encode::Remark;

/// Of a data frame.
pub(crate) fn of_frame(remark: &Remark) -> String {
    match remark {
        Remark::Identifier { .. } => format!("{remark} (make it a category to learn from it)"),
        Remark::CountsRows { .. } => format!("{remark}: drop it unless the order means something"),
        Remark::Outliers { .. } => {
            format!("{remark}: a logarithm, ranks or scaling=\"robust\" may serve better")
        }
        Remark::Leak { .. } => format!("{remark}: drop it if it is not known before the target is"),
        Remark::ManyClasses { .. } => format!("{remark} (KernelRegressor predicts a number)"),
        _ => remark.to_string(),
    }
}

/// Of files.
pub(crate) fn of_files(remark: &Remark) -> String {
    match remark {
        Remark::Identifier { columns } => {
            let first = columns.first().map_or("", String::as_str);
            format!("{remark} (kinds={{{first:?}: \"category\"}} learns from it)")
        }
        Remark::CountsRows { column } => {
            format!("{remark}: ignore=[{column:?}] unless the order means something")
        }
        Remark::Leak { column, .. } => {
            format!("{remark}: ignore=[{column:?}] if it is not known before the target is")
        }
        Remark::Unreadable { .. } => format!("{remark} (strict=True refuses them)"),
        _ => of_frame(remark),
    }
}
