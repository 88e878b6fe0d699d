"""Operations: their declaration, their kernels, and the one point through which every call of them passes."""
